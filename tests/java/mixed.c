/* SPDX-License-Identifier: MIT */
/* Native methods of Mixed.java, compiled with hooks. PREFIX: of the functions that are not native methods. */
#include <jni.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOIN(a, b) a##b
#define NAME(a, b) JOIN(a, b)
#define OWN(name) NAME(PREFIX, name)

static jint calls_back(JNIEnv *jni, jclass type, const char *name, jint n)
{
	jmethodID method = (*jni)->GetStaticMethodID(jni, type, name, "(I)I");

	return method ? (*jni)->CallStaticIntMethod(jni, type, method, n) : -1;
}

JNIEXPORT jint JNICALL Java_Mixed_down(JNIEnv *jni, jclass type, jint n)
{
	return calls_back(jni, type, "up", n);
}

/* Half of the callbacks throw an exception, which ends here. */
JNIEXPORT jint JNICALL Java_Mixed_catches(JNIEnv *jni, jclass type, jint n)
{
	jint caught = 0;

	for (jint i = 0; i < n; i++) {
		calls_back(jni, type, "fails", i);
		if ((*jni)->ExceptionCheck(jni)) {
			(*jni)->ExceptionClear(jni);
			caught++;
		}
	}
	return caught;
}

static void raise_at(JNIEnv *jni, jint depth)
{
	if (depth > 0) {
		raise_at(jni, depth - 1);
		__asm__ volatile("");
		return;
	}
	(*jni)->ThrowNew(jni, (*jni)->FindClass(jni, "java/lang/IllegalArgumentException"), "from C");
}

JNIEXPORT jint JNICALL Java_Mixed_raises(JNIEnv *jni, jclass type, jint depth)
{
	(void)type;
	raise_at(jni, depth);
	return 0;
}

__attribute__((noinline)) void OWN(leaf)(void)
{
	__asm__ volatile(""); /* else calls of an empty function are left out */
}

/* Called in a thread that the JVM does not know. */
static void *in_thread(void *times)
{
	for (long i = 0; i < (long)times; i++)
		OWN(leaf)();
	return NULL;
}

/* Of a child of fork() only the exit status is seen. */
static jint child(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		OWN(leaf)();
		exit(6);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : -1;
}

JNIEXPORT jint JNICALL Java_Mixed_leaves(JNIEnv *jni, jclass type, jint n)
{
	pthread_t thread;

	(void)jni;
	(void)type;
	if (n == -1)
		exit(5);
	if (n == -2)
		quick_exit(5);
	if (n == -3)
		return child();
	for (jint i = 0; i < n; i++)
		OWN(leaf)();
	if (n == 7 && pthread_create(&thread, NULL, in_thread, (void *)9L) == 0)
		pthread_join(thread, NULL);
	return n;
}

JNIEXPORT jint JNICALL Java_Mixed_object(JNIEnv *jni, jobject object, jint n)
{
	jclass type = (*jni)->GetObjectClass(jni, object);
	jmethodID method = (*jni)->GetMethodID(jni, type, "method", "(I)I");
	jint sum = 0;

	for (jint i = 0; method && i < n; i++)
		sum += (*jni)->CallIntMethod(jni, object, method, i);
	return sum;
}
