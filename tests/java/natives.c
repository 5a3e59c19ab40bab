/* SPDX-License-Identifier: MIT */
/* Native methods of Natives.java. */
#include <dlfcn.h>
#include <jni.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t thread_time(void) {
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static volatile uint64_t sink;
static void *volatile allocated;

/* They differ, so that no compiler makes one of them. */
static __attribute__((noinline)) uint64_t thirty(uint64_t end) {
	uint64_t state = 1, time;

	while ((time = thread_time()) < end)
		for (int i = 0; i < 5000; i++)
			state = state * 31 + (state >> 7);
	sink += state;
	return time;
}

static __attribute__((noinline)) uint64_t seventy(uint64_t end) {
	uint64_t state = 2, time;

	while ((time = thread_time()) < end)
		for (int i = 0; i < 5000; i++)
			state = state * 37 + (state >> 5);
	sink += state;
	return time;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t thirty_took, seventy_took;

/* Slices have random lengths, so that no period of a sampling clock fits them. */
JNIEXPORT void JNICALL Java_Natives_shares(JNIEnv *jni, jclass type, jlong nanoseconds, jint seed) {
	unsigned int random = (unsigned int)seed + 1;
	const uint64_t begin = thread_time();
	uint64_t time = begin, took[2] = {0, 0};

	(void)jni;
	(void)type;
	while (time - begin < (uint64_t)nanoseconds) {
		const int first = rand_r(&random) % 10 < 3;
		const uint64_t end = time + 100000 + (uint64_t)rand_r(&random) % 4000000;
		const uint64_t next = first ? thirty(end) : seventy(end);

		took[first] += next - time;
		time = next;
	}
	pthread_mutex_lock(&lock);
	thirty_took += took[1];
	seventy_took += took[0];
	pthread_mutex_unlock(&lock);
}

JNIEXPORT void JNICALL Java_Natives_printShares(JNIEnv *jni, jclass type) {
	(void)jni;
	(void)type;
	printf("thirty %llu\nseventy %llu\n", (unsigned long long)thirty_took, (unsigned long long)seventy_took);
	fflush(stdout);
}

static jboolean call_in(JNIEnv *jni, jstring name, jlong nanoseconds) {
	const char *path = (*jni)->GetStringUTFChars(jni, name, NULL);
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	void (*take)(uint64_t) = NULL;

	if (path)
		(*jni)->ReleaseStringUTFChars(jni, name, path);
	if (!library)
		return JNI_FALSE;
	*(void **)&take = dlsym(library, "take");
	if (take)
		take(thread_time() + (uint64_t)nanoseconds);
	dlclose(library);
	return take ? JNI_TRUE : JNI_FALSE;
}

JNIEXPORT jboolean JNICALL Java_Natives_callFirst(JNIEnv *jni, jclass type, jstring library, jlong nanoseconds) {
	(void)type;
	return call_in(jni, library, nanoseconds);
}

JNIEXPORT jboolean JNICALL Java_Natives_callSecond(JNIEnv *jni, jclass type, jstring library, jlong nanoseconds) {
	(void)type;
	return call_in(jni, library, nanoseconds);
}

JNIEXPORT void JNICALL Java_Natives_allocate(JNIEnv *jni, jclass type, jlong nanoseconds) {
	const uint64_t end = thread_time() + (uint64_t)nanoseconds;

	(void)jni;
	(void)type;
	while (thread_time() < end)
		for (size_t bytes = 16; bytes < (1 << 20); bytes *= 3)
			free(allocated = malloc(bytes));
}

JNIEXPORT void JNICALL Java_Natives_leaf(JNIEnv *jni, jclass type, jlong nanoseconds) {
	(void)jni;
	(void)type;
	thirty(thread_time() + (uint64_t)nanoseconds);
}
