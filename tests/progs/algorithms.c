/* SPDX-License-Identifier: MIT */
/*
 * Sorts, compresses, or matches a regular expression with its own code only, the same at each run,
 * so that any tool can count the instructions of each function. Usage: algorithms
 * sort|compress|match SIZE
 * Prints a checksum. Built a second time with -finstrument-functions (instrumented.c).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t seed = 1;

static uint32_t next_random(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

/* ---- sort: quicksort, insertion sort for short parts ---- */

static void insert_each(uint32_t *numbers, long count)
{
	for (long i = 1; i < count; i++) {
		const uint32_t number = numbers[i];
		long place = i;

		for (; place > 0 && numbers[place - 1] > number; place--)
			numbers[place] = numbers[place - 1];
		numbers[place] = number;
	}
}

static uint32_t middle_of(uint32_t a, uint32_t b, uint32_t c)
{
	if (a > b)
		return b > c ? b : a > c ? c : a;
	return a > c ? a : b > c ? c : b;
}

static long divide(uint32_t *numbers, long count)
{
	const uint32_t pivot = middle_of(numbers[0], numbers[count / 2], numbers[count - 1]);
	long low = -1, high = count;

	for (;;) {
		while (numbers[++low] < pivot)
			;
		while (numbers[--high] > pivot)
			;
		if (low >= high)
			return high + 1;
		const uint32_t kept = numbers[low];

		numbers[low] = numbers[high];
		numbers[high] = kept;
	}
}

static void quick_sort(uint32_t *numbers, long count)
{
	if (count < 12)
		return insert_each(numbers, count);
	const long first = divide(numbers, count);

	quick_sort(numbers, first);
	quick_sort(numbers + first, count - first);
}

static uint32_t sort(long count)
{
	uint32_t *numbers = malloc(sizeof(*numbers) * (size_t)count);
	uint32_t sum = 0;

	for (long i = 0; i < count; i++)
		numbers[i] = next_random();
	quick_sort(numbers, count);
	for (long i = 0; i < count; i++)
		sum = sum * 31 + numbers[i];
	free(numbers);
	return sum;
}

/* ---- compress: repeated text is encoded by its distance and length ---- */

enum { hash_size = 4096, longest = 255, window = 65535 };

static uint32_t hash_of(const uint8_t *text)
{
	return (text[0] * 2654435761u ^ text[1] * 40503u ^ text[2] * 31u) % hash_size;
}

static long length_of_match(const uint8_t *a, const uint8_t *b, long limit)
{
	long length = 0;

	while (length < limit && a[length] == b[length])
		length++;
	return length;
}

static long pack(const uint8_t *text, long size, uint8_t *packed)
{
	static long places[hash_size];
	long out = 0;

	for (long i = 0; i < hash_size; i++)
		places[i] = -1;
	for (long at = 0; at < size;) {
		long length = 0, distance = 0;

		if (at + 3 <= size) {
			const uint32_t hash = hash_of(text + at);
			const long limit = size - at < longest ? size - at : longest;

			distance = at - places[hash];
			if (places[hash] >= 0 && distance <= window)
				length = length_of_match(text + at, text + places[hash], limit);
			places[hash] = at;
		}
		if (length < 4) {
			packed[out++] = 0;
			packed[out++] = text[at++];
			continue;
		}
		packed[out++] = (uint8_t)length;
		packed[out++] = (uint8_t)distance;
		packed[out++] = (uint8_t)(distance >> 8);
		at += length;
	}
	return out;
}

static long unpack(const uint8_t *packed, long size, uint8_t *text)
{
	long out = 0;

	for (long at = 0; at < size;) {
		const long length = packed[at++];

		if (length == 0) {
			text[out++] = packed[at++];
			continue;
		}
		const long distance = packed[at] | packed[at + 1] << 8;

		at += 2;
		for (long i = 0; i < length; i++, out++)
			text[out] = text[out - distance];
	}
	return out;
}

static void make_text(uint8_t *text, long size)
{
	for (long i = 0; i < size; i++)
		text[i] = "abcdefgh"[next_random() % 1000 < 900 ? i % 7 : next_random() % 8];
}

static uint32_t compress(long size)
{
	uint8_t *text = malloc((size_t)size), *packed = malloc((size_t)size * 2);
	uint8_t *again = malloc((size_t)size);

	make_text(text, size);
	const long length = pack(text, size, packed);
	const uint32_t sum = unpack(packed, length, again) == size ? (uint32_t)length : 0;

	for (long i = 0; i < size; i++)
		if (again[i] != text[i])
			abort();
	free(again);
	free(packed);
	free(text);
	return sum;
}

/* ---- match: letters, dots, stars and question marks, by backtracking ---- */

static int match_here(const char *pattern, const char *text);

static int match_letter(char letter, char other)
{
	return other && (letter == '.' || letter == other);
}

static int match_star(char letter, const char *pattern, const char *text)
{
	do {
		if (match_here(pattern, text))
			return 1;
	} while (match_letter(letter, *text++));
	return 0;
}

static int match_here(const char *pattern, const char *text)
{
	if (!pattern[0])
		return 1;
	if (pattern[1] == '*')
		return match_star(pattern[0], pattern + 2, text);
	if (pattern[1] == '?')
		return match_here(pattern + 2, text) ||
		       (match_letter(pattern[0], *text) && match_here(pattern + 2, text + 1));
	return match_letter(pattern[0], *text) && match_here(pattern + 1, text + 1);
}

static uint32_t match(long size)
{
	static const char *const patterns[] = { "a.*b", "abc?d*e", ".*gfe", "c*c*c*d", "aab?cd?e?f" };
	char *text = malloc((size_t)size + 1);
	uint32_t found = 0;

	make_text((uint8_t *)text, size);
	text[size] = 0;
	for (unsigned int i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		for (long at = 0; at < size; at += 16)
			found = found * 2 + (uint32_t)match_here(patterns[i], text + at);
	free(text);
	return found;
}

int main(int argc, char **argv)
{
	const long size = argc == 3 ? atol(argv[2]) : 0;

	if (size <= 0 || size > 10000000)
		return 2;
	if (strcmp(argv[1], "sort") == 0)
		printf("%u\n", sort(size));
	else if (strcmp(argv[1], "compress") == 0)
		printf("%u\n", compress(size));
	else if (strcmp(argv[1], "match") == 0)
		printf("%u\n", match(size));
	else
		return 2;
	return 0;
}
