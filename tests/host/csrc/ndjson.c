/* Records from a file of JSON lines, --records of them to a chunk. */
#define _GNU_SOURCE
#include "host.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEPTH 64

static const char *spaces(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') {
        at++;
    }
    return at;
}

static void put_utf8(struct buffer *b, uint32_t c)
{
    unsigned char bytes[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    for (size_t i = n; i > 1; i--) {
        bytes[i - 1] = (unsigned char) (0x80 | (c & 0x3f));
        c >>= 6;
    }
    bytes[0] = (unsigned char) (n == 1 ? c : (0xf00 >> n & 0xff) | c);
    put(b, bytes, n);
}

/* Reads the four digits of \uXXXX, and the second half of a pair. */
static const char *escape_unicode(const char *at, struct buffer *b)
{
    unsigned high, low;

    if (sscanf(at, "%4x", &high) != 1) {
        return NULL;
    }
    at += 4;
    if (high >= 0xd800 && high < 0xdc00 && sscanf(at, "\\u%4x", &low) == 1) {
        high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
    }
    put_utf8(b, high);
    return at;
}

/* Reads a string from behind its opening quote into b, without a head. */
static const char *read_string(const char *at, struct buffer *b)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found;

    while (*at != '"') {
        if (*at == '\0') {
            return NULL;
        }
        if (*at != '\\') {
            put(b, at++, 1);
        } else if (at[1] == 'u') {
            at = escape_unicode(at + 2, b);
            if (at == NULL) {
                return NULL;
            }
        } else if (at[1] != '\0' && (found = strchr(from, at[1])) != NULL) {
            put(b, &to[found - from], 1);
            at += 2;
        } else {
            return NULL;
        }
    }
    return at + 1;
}

static const char *string_value(const char *at, struct buffer *b)
{
    struct buffer text = {0};

    at = read_string(at, &text);
    if (at != NULL) {
        put_string(b, (char *) text.bytes, text.length);
    }
    free(text.bytes);
    return at;
}

static const char *number_value(const char *at, struct buffer *b)
{
    char *end;
    size_t digits = strspn(at, "-0123456789");

    errno = 0;
    if (strchr(".eE", at[digits]) == NULL || at[digits] == '\0') {
        long long n = strtoll(at, &end, 10);
        if (errno == 0 && end != at) {
            put_signed(b, n);
            return end;
        }
    }
    put_double(b, strtod(at, &end));
    return end == at ? NULL : end;
}

static const char *read_value(const char *at, struct buffer *b, int depth);

/* Reads an object or array from behind its opening bracket. */
static const char *read_many(const char *at, struct buffer *b, char close, int depth)
{
    struct buffer inside = {0};
    size_t count = 0;

    at = spaces(at);
    while (at != NULL && *at != close) {
        if (count > 0) {
            at = *at == ',' ? spaces(at + 1) : NULL;
        }
        if (at != NULL && close == '}') {
            at = *at == '"' ? string_value(at + 1, &inside) : NULL;
            at = at == NULL ? NULL : spaces(at);
            at = at != NULL && *at == ':' ? spaces(at + 1) : NULL;
        }
        at = at == NULL ? NULL : read_value(at, &inside, depth + 1);
        at = at == NULL ? NULL : spaces(at);
        count++;
    }
    if (at != NULL) {
        put_head(b, close == '}' ? 'm' : 'a', count);
        put(b, inside.bytes == NULL ? (unsigned char *) "" : inside.bytes, inside.length);
        at++;
    }
    free(inside.bytes);
    return at;
}

static const char *read_value(const char *at, struct buffer *b, int depth)
{
    static const struct {
        const char *word;
        unsigned char byte;
    } words[] = {{"null", 0xc0}, {"false", 0xc2}, {"true", 0xc3}};

    if (depth > DEPTH) {
        return NULL;
    }
    switch (*at) {
    case '{':
        return read_many(at + 1, b, '}', depth);
    case '[':
        return read_many(at + 1, b, ']', depth);
    case '"':
        return string_value(at + 1, b);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strncmp(at, words[i].word, strlen(words[i].word)) == 0) {
            put(b, &words[i].byte, 1);
            return at + strlen(words[i].word);
        }
    }
    return number_value(at, b);
}

/* Finds the time of a line: the first "<time key>":"2026-11-29T21:56:51.123Z".
 * A line without one happened now. */
static struct timespec time_of(const char *line)
{
    struct timespec at;
    struct tm tm = {0};
    char key[256];
    const char *text, *rest;

    clock_gettime(CLOCK_REALTIME, &at);
    snprintf(key, sizeof(key), "\"%s\"", options.time_key);
    text = strstr(line, key);
    if (text == NULL || (text = strchr(text + strlen(key), '"')) == NULL) {
        return at;
    }
    rest = strptime(text + 1, "%Y-%m-%dT%H:%M:%S", &tm);
    if (rest == NULL) {
        return at;
    }
    at.tv_sec = timegm(&tm);
    at.tv_nsec = *rest == '.' ? (long) (strtod(rest, NULL) * 1e9) : 0;
    return at;
}

struct chunk *ndjson_next(void)
{
    static FILE *file;
    static char *line;
    static size_t room;
    static uint64_t lines;
    struct buffer content = {0};
    struct chunk *chunk = NULL;
    uint64_t count = 0;

    if (file == NULL && (file = fopen(options.input, "re")) == NULL) {
        die("open %s: %s", options.input, strerror(errno));
    }
    while (count < options.records && getline(&line, &room, file) > 0) {
        struct timespec at = time_of(line);
        const char *end;
        count++;
        put_event_start(&content, (uint32_t) at.tv_sec, (uint32_t) at.tv_nsec);
        end = read_value(spaces(line), &content, 0);
        if (end == NULL || *spaces(end) != '\0') {
            die("%s:%llu is no JSON: %s", options.input, (unsigned long long) (lines + count), line);
        }
    }
    if (count > 0) {
        chunk = chunk_new(options.tags[lines / options.records % (uint64_t) options.tag_count], &content);
        chunk->first_id = lines;
        chunk->records = count;
        lines += count;
    }
    free(content.bytes);
    return chunk;
}
