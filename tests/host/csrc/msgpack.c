#include "host.h"

#include <stdlib.h>
#include <string.h>

void put(struct buffer *b, const void *bytes, size_t length)
{
    if (b->length + length > b->room) {
        b->room = (b->length + length) * 2;
        b->bytes = need(realloc(b->bytes, b->room));
    }
    memcpy(b->bytes + b->length, bytes, length);
    b->length += length;
}

/* Writes a first byte and the size lowest bytes of n, the highest first. */
static void put_number(struct buffer *b, int first, uint64_t n, int size)
{
    unsigned char bytes[9] = {(unsigned char) first};

    for (int i = 0; i < size; i++) {
        bytes[size - i] = (unsigned char) (n >> (8 * i));
    }
    put(b, bytes, (size_t) size + 1);
}

void put_head(struct buffer *b, int kind, size_t count)
{
    if (kind == 's') {
        if (count < 32) {
            put_number(b, 0xa0 | (int) count, 0, 0);
        } else if (count < 256) {
            put_number(b, 0xd9, count, 1);
        } else if (count < 65536) {
            put_number(b, 0xda, count, 2);
        } else {
            put_number(b, 0xdb, count, 4);
        }
        return;
    }
    if (count < 16) {
        put_number(b, (kind == 'm' ? 0x80 : 0x90) | (int) count, 0, 0);
    } else if (count < 65536) {
        put_number(b, kind == 'm' ? 0xde : 0xdc, count, 2);
    } else {
        put_number(b, kind == 'm' ? 0xdf : 0xdd, count, 4);
    }
}

void put_string(struct buffer *b, const char *text, size_t length)
{
    put_head(b, 's', length);
    put(b, text, length);
}

void put_text(struct buffer *b, const char *text)
{
    put_string(b, text, strlen(text));
}

void put_unsigned(struct buffer *b, uint64_t n)
{
    if (n < 128) {
        put_number(b, (int) n, 0, 0);
    } else if (n <= UINT32_MAX) {
        put_number(b, 0xce, n, 4);
    } else {
        put_number(b, 0xcf, n, 8);
    }
}

void put_signed(struct buffer *b, int64_t n)
{
    if (n >= 0) {
        put_unsigned(b, (uint64_t) n);
    } else {
        put_number(b, 0xd3, (uint64_t) n, 8);
    }
}

void put_double(struct buffer *b, double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof(bits));
    put_number(b, 0xcb, bits, 8);
}

/* The start of [[time, {}], record] as Fluent Bit 2.1 and later write it. */
void put_event_start(struct buffer *b, uint32_t sec, uint32_t nsec)
{
    static const unsigned char before[] = {0x92, 0x92, 0xd7, 0x00};
    static const unsigned char after = 0x80;
    unsigned char time[8];

    for (int i = 0; i < 4; i++) {
        time[i] = (unsigned char) (sec >> (24 - 8 * i));
        time[4 + i] = (unsigned char) (nsec >> (24 - 8 * i));
    }
    put(b, before, sizeof(before));
    put(b, time, sizeof(time));
    put(b, &after, 1);
}
