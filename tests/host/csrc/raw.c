/*
 * Chunks that somebody else made, from a file, one behind the other:
 *
 *   <first id> <records> <bytes> <tag>\n  then the bytes
 */
#include "host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct chunk *raw_next(void)
{
    static FILE *file;
    static char *line;
    static size_t room;
    static uint64_t made;
    unsigned long long first, records;
    struct buffer content = {0};
    struct chunk *chunk;
    ssize_t length;
    int tag = 0;

    if (file == NULL && (file = fopen(options.raw, "re")) == NULL) {
        die("open %s: %s", options.raw, strerror(errno));
    }
    if ((length = getline(&line, &room, file)) <= 0) {
        return NULL;
    }
    if (sscanf(line, "%llu %llu %zu %n", &first, &records, &content.length, &tag) != 3 || tag == 0 || line[length - 1] != '\n') {
        die("%s: chunk %llu has no head: %s", options.raw, (unsigned long long) made, line);
    }
    line[length - 1] = '\0';
    content.bytes = need(malloc(content.length + 1)); /* a chunk may be empty */
    if (fread(content.bytes, 1, content.length, file) != content.length) {
        die("%s: chunk %llu is cut short", options.raw, (unsigned long long) made);
    }
    chunk = chunk_new(line + tag, &content);
    chunk->first_id = first;
    chunk->records = records;
    made++;
    free(content.bytes);
    return chunk;
}
