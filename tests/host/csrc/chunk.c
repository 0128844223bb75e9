/*
 * Chunk files. Their names and the way they are mapped are Fluent Bit's; what
 * stands before the content is not, since a plugin never sees it:
 *
 *   <tag>\n<offset> <size>\n  filled up to an odd offset, then the content
 *
 * A file appears under its name when it is whole, and lives until every output
 * is done with it.
 */
#define _GNU_SOURCE
#include "host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STREAM "host.0"

static void path_of(const struct chunk *chunk, const char *suffix, char *path, size_t size)
{
    snprintf(path, size, "%s/%s/%s%s", options.storage, chunk->stream, chunk->name, suffix);
}

static struct chunk *chunk_alloc(const char *tag)
{
    struct chunk *chunk = need(calloc(1, sizeof(*chunk) + sizeof(struct route) * (size_t) options.output_count));

    chunk->tag = need(strdup(tag));
    chunk->routes_left = options.output_count;
    for (int i = 0; i < options.output_count; i++) {
        chunk->routes[i].chunk = chunk;
        chunk->routes[i].output = options.outputs[i];
        chunk->routes[i].state = READY;
    }
    return chunk;
}

static void write_all(int fd, const void *bytes, size_t length, const char *path)
{
    const char *at = bytes;

    while (length > 0) {
        ssize_t n = write(fd, at, length);
        if (n < 0 && errno != EINTR) {
            die("write chunk %s: %s", path, strerror(errno));
        }
        at += n > 0 ? n : 0;
        length -= (size_t) (n > 0 ? n : 0);
    }
}

static void chunk_write(struct chunk *chunk, const struct buffer *content)
{
    char dir[4096], path[4096], final[4096], head[1024];
    int fd, length;

    snprintf(dir, sizeof(dir), "%s/%s", options.storage, chunk->stream);
    mkdir(options.storage, 0755);
    if (mkdir(dir, 0755) != 0 && errno != EEXIST) {
        die("make %s: %s", dir, strerror(errno));
    }
    chunk->offset = strlen(chunk->tag) + 32;
    chunk->offset |= 1;
    length = snprintf(head, sizeof(head), "%s\n%zu %zu\n", chunk->tag, chunk->offset, content->length);
    memset(head + length, '.', chunk->offset - (size_t) length);

    path_of(chunk, ".new", path, sizeof(path));
    path_of(chunk, "", final, sizeof(final));
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) {
        die("make chunk %s: %s", path, strerror(errno));
    }
    write_all(fd, head, chunk->offset, path);
    write_all(fd, content->bytes, content->length, path);
    close(fd);
    if (rename(path, final) != 0) {
        die("name chunk %s: %s", final, strerror(errno));
    }
}

/* A new chunk of the content, in a file or, with --memory, on the heap. */
struct chunk *chunk_new(const char *tag, const struct buffer *content)
{
    struct chunk *chunk = chunk_alloc(tag);
    struct timespec at;

    if (strlen(tag) > 900) {
        die("the tag is too long: %s", tag);
    }
    clock_gettime(CLOCK_REALTIME, &at);
    snprintf(chunk->stream, sizeof(chunk->stream), STREAM);
    snprintf(chunk->name, sizeof(chunk->name), "%i-%lu.%4lu.flb", getpid(), (unsigned long) at.tv_sec,
             (unsigned long) at.tv_nsec);
    chunk->size = content->length;
    if (options.memory) {
        chunk->memory = need(malloc(content->length));
        memcpy(chunk->memory, content->bytes, content->length);
    } else {
        chunk_write(chunk, content);
    }
    return chunk;
}

/* Reads what stands before a chunk's content. NULL if the file is no chunk. */
static struct chunk *chunk_read(const char *stream, const char *name)
{
    char path[4096], tag[1024];
    size_t offset, size;
    struct chunk *chunk;
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s/%s", options.storage, stream, name);
    file = fopen(path, "re");
    if (file == NULL) {
        return NULL;
    }
    if (fscanf(file, "%1023[^\n]\n%zu %zu", tag, &offset, &size) != 3) {
        fclose(file);
        return NULL;
    }
    fclose(file);
    chunk = chunk_alloc(tag);
    snprintf(chunk->stream, sizeof(chunk->stream), "%.63s", stream);
    snprintf(chunk->name, sizeof(chunk->name), "%.127s", name);
    chunk->offset = offset;
    chunk->size = size;
    return chunk;
}

static int is_chunk(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 4 && strcmp(entry->d_name + length - 4, ".flb") == 0;
}

static int is_stream(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The chunks that a former run left, the oldest first. */
struct chunk *chunk_backlog(void)
{
    struct chunk *first = NULL, **last = &first;
    struct dirent **streams, **names;
    char dir[4096];
    int s, n;

    if (options.memory || (s = scandir(options.storage, &streams, is_stream, versionsort)) < 0) {
        return NULL;
    }
    for (int i = 0; i < s; i++) {
        snprintf(dir, sizeof(dir), "%s/%s", options.storage, streams[i]->d_name);
        n = scandir(dir, &names, is_chunk, versionsort);
        for (int j = 0; j < n; j++) {
            *last = chunk_read(streams[i]->d_name, names[j]->d_name);
            if (*last != NULL) {
                last = &(*last)->next;
            }
            free(names[j]);
        }
        if (n >= 0) {
            free(names);
        }
        free(streams[i]);
    }
    free(streams);
    return first;
}

/* Gives a flush its data: a mapping of its own, or a copy on the heap. */
const unsigned char *chunk_map(struct chunk *chunk, void **base, size_t *length)
{
    char path[4096];
    int fd;

    if (chunk->memory != NULL) {
        *length = chunk->size;
        *base = need(malloc(chunk->size + 1)); /* even an empty chunk has an address */
        memcpy(*base, chunk->memory, chunk->size);
        return *base;
    }
    path_of(chunk, "", path, sizeof(path));
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        die("open chunk %s: %s", path, strerror(errno));
    }
    *length = chunk->offset + chunk->size;
    *base = mmap(NULL, *length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (*base == MAP_FAILED) {
        die("map chunk %s: %s", path, strerror(errno));
    }
    return (unsigned char *) *base + chunk->offset;
}

/* Takes the data back: whoever reads it now faults, or reads rubbish. */
void chunk_unmap(struct chunk *chunk, void *base, size_t length)
{
    if (chunk->memory != NULL) {
        memset(base, 0xdb, length);
        free(base);
        return;
    }
    munmap(base, length);
}

void chunk_delete(struct chunk *chunk)
{
    char path[4096];

    if (chunk->memory != NULL) {
        return;
    }
    path_of(chunk, "", path, sizeof(path));
    if (unlink(path) != 0) {
        die("delete chunk %s: %s", path, strerror(errno));
    }
}

void chunk_free(struct chunk *chunk)
{
    free(chunk->memory);
    free(chunk->tag);
    free(chunk);
}
