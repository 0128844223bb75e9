/* Records that a test can tell apart: their ids count up from --first-id. */
#include "host.h"

#include <stdlib.h>
#include <string.h>

static void put_pair(struct buffer *b, const char *key, const char *value)
{
    put_text(b, key);
    put_text(b, value);
}

/* Writes one record as Fluent Bit's Kubernetes filter leaves it. Its time
 * moves on by an hour from record to record, over the hours asked for. */
static void put_record(struct buffer *b, uint64_t n, const char *filling)
{
    uint64_t id = options.first_id + n;
    char text[128];

    put_event_start(b, (uint32_t) (options.start + (int64_t) (n % options.hours) * 3600 + (int64_t) (n / options.hours % 3600)),
                    (uint32_t) (n % 1000000000));
    put_head(b, 'm', 5);
    put_text(b, "id");
    put_unsigned(b, id);
    put_pair(b, "stream", n % 7 == 0 ? "stderr" : "stdout");
    put_pair(b, "level", n % 7 == 0 ? "error" : "info");
    snprintf(text, sizeof(text), "request %llu 完成 in %llu ms ", (unsigned long long) id, (unsigned long long) (n % 977));
    put_text(b, "log");
    put_head(b, 's', strlen(text) + options.record_size);
    put(b, text, strlen(text));
    put(b, filling, options.record_size);
    put_text(b, "kubernetes");
    put_head(b, 'm', 3);
    put_pair(b, "namespace_name", n % 3 == 0 ? "kube-system" : "shop");
    put_pair(b, "pod_name", n % 3 == 0 ? "coredns-5d78c9869d-x2x7b" : "cart-6c5b8f7f9-qq2wz");
    put_pair(b, "container_name", "main");
}

struct chunk *generate_next(void)
{
    static uint64_t made;
    struct buffer content = {0};
    struct chunk *chunk;
    char *filling;

    if (made == options.chunks) {
        return NULL;
    }
    filling = need(malloc(options.record_size + 1));
    for (size_t i = 0; i < options.record_size; i++) {
        filling[i] = (char) ('a' + (i * 7 + made) % 26);
    }
    for (uint64_t i = 0; i < options.records; i++) {
        put_record(&content, made * options.records + i, filling);
    }
    chunk = chunk_new(options.tags[made % (uint64_t) options.tag_count], &content);
    chunk->first_id = options.first_id + made * options.records;
    chunk->records = options.records;
    made++;
    free(filling);
    free(content.bytes);
    return chunk;
}
