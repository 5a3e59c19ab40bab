/* SPDX-License-Identifier: MIT */
/* Starts a Java virtual machine, as the launcher java does, and ends it: launches LIBJVM OPTION. A copy with a set-user-id bit does that
   with another user's rights. */
#include <dlfcn.h>
#include <jni.h>
#include <stdio.h>

int main(int count, char **arguments)
{
	void *library = count == 3 ? dlopen(arguments[1], RTLD_NOW) : NULL;
	jint (*create)(JavaVM **, void **, void *) = NULL;
	JavaVMOption options[] = {{.optionString = arguments[2]}, {.optionString = "-Xmx32m"}, {.optionString = "-XX:+UseSerialGC"}};
	JavaVMInitArgs settings = {.version = JNI_VERSION_1_8, .nOptions = 3, .options = options};
	JavaVM *vm;
	void *jni;

	if (library)
		*(void **)&create = dlsym(library, "JNI_CreateJavaVM");
	if (!create || create(&vm, &jni, &settings) != JNI_OK)
		return 1;
	puts("started");
	return (*vm)->DestroyJavaVM(vm) == JNI_OK ? 0 : 1;
}
