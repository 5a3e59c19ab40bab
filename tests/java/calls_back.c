/* SPDX-License-Identifier: MIT */
/* Native methods of Programs.java, which call methods of Java. */
#include <jni.h>

/* Calls called() so often; a negative number calls throwing() instead, whose exception reaches the caller. */
JNIEXPORT jint JNICALL Java_Programs_callBack(JNIEnv *jni, jclass type, jint times) {
	jmethodID called = (*jni)->GetStaticMethodID(jni, type, "called", "(I)I");
	jmethodID throwing = called ? (*jni)->GetStaticMethodID(jni, type, "throwing", "()V") : NULL;
	jint sum = 0;

	if (!throwing)
		return -1;
	if (times < 0)
		(*jni)->CallStaticVoidMethod(jni, type, throwing);
	for (jint i = 0; i < times; i++) {
		sum += (*jni)->CallStaticIntMethod(jni, type, called, i);
		if ((*jni)->ExceptionCheck(jni))
			return -1;
	}
	return sum;
}

JNIEXPORT jint JNICALL Java_Programs_callObject(JNIEnv *jni, jobject object, jobject other) {
	jclass type = (*jni)->GetObjectClass(jni, object);
	jmethodID called = (*jni)->GetMethodID(jni, type, "calledObject", "(LPrograms;)I");

	return called ? (*jni)->CallIntMethod(jni, object, called, other) : -1;
}
