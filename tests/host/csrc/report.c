/* What a test reads: on stdout, a JSON object a line, each in one write. */
#include "host.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The engine's thread reports everything but exits after a reload, and those
 * don't overlap with it. */
static struct {
    uint64_t chunks, records, bytes;
    uint64_t answers[4]; /* error, ok, retry, anything else */
    uint64_t dropped, deleted;
    int64_t *took;
    size_t count, room;
    int64_t began;
} seen;

void report_event(const char *format, ...)
{
    char line[8192];
    va_list args;
    int length;

    line[0] = '{';
    va_start(args, format);
    length = vsnprintf(line + 1, sizeof(line) - 3, format, args);
    va_end(args);
    if (length < 0 || (size_t) length > sizeof(line) - 4) {
        die("an event is too long to report");
    }
    memcpy(line + 1 + length, "}\n", 2);
    if (write(STDOUT_FILENO, line, (size_t) length + 3) < 0) {
        _exit(1); /* nobody listens any more */
    }
}

void report_chunk(const struct chunk *chunk)
{
    if (seen.began == 0) {
        seen.began = now();
    }
    seen.chunks++;
    seen.records += chunk->records;
    report_event("\"event\":\"chunk\",\"chunk\":\"%s\",\"first\":%llu,\"records\":%llu,\"bytes\":%zu", chunk->name,
                 (unsigned long long) chunk->first_id, (unsigned long long) chunk->records, chunk->size);
}

void report_answer(const struct route *route)
{
    int answer = route->answer;

    seen.answers[answer >= 0 && answer <= 2 ? answer : 3]++;
    if (answer == ANSWER_OK) {
        seen.bytes += route->chunk->size;
    }
    if (seen.count == seen.room) {
        seen.room = seen.room * 2 + 1024;
        seen.took = need(realloc(seen.took, seen.room * sizeof(*seen.took)));
    }
    seen.took[seen.count++] = route->took;
    report_event("\"event\":\"answer\",\"chunk\":\"%s\",\"output\":\"%s\",\"delivery\":%d,\"answer\":%d,\"us\":%.1f",
                 route->chunk->name, route->output->name, route->deliveries, answer, (double) route->took / 1e3);
}

void report_drop(const struct route *route)
{
    seen.dropped++;
    report_event("\"event\":\"drop\",\"chunk\":\"%s\",\"output\":\"%s\"", route->chunk->name, route->output->name);
}

void report_delete(const struct chunk *chunk)
{
    seen.deleted++;
    report_event("\"event\":\"delete\",\"chunk\":\"%s\"", chunk->name);
}

uint64_t report_oks(void)
{
    return seen.answers[ANSWER_OK];
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

    return (x > y) - (x < y);
}

/* The latency that a share of the flushes stayed within, in microseconds. */
static double within(double share)
{
    if (seen.count == 0) {
        return 0;
    }
    return (double) seen.took[(size_t) (share * (double) (seen.count - 1) + 0.5)] / 1e3;
}

/* A number of kB from /proc/self/status. */
static long status_kb(const char *key)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    long kb = 0;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            kb = strtol(line + strlen(key), NULL, 10);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return kb;
}

void report_summary(void)
{
    double seconds = seen.began == 0 ? 0 : (double) (now() - seen.began) / 1e9;

    if (seen.count > 0) {
        qsort(seen.took, seen.count, sizeof(*seen.took), by_size);
    }
    report_event("\"event\":\"summary\",\"chunks\":%llu,\"records\":%llu,\"bytes\":%llu,\"ok\":%llu,\"retry\":%llu,"
                 "\"error\":%llu,\"other\":%llu,\"dropped\":%llu,\"deleted\":%llu,\"seconds\":%.3f,\"p50_us\":%.1f,"
                 "\"p99_us\":%.1f,\"max_us\":%.1f,\"rss_kb\":%ld,\"peak_rss_kb\":%ld,\"stack_bytes\":%zu",
                 (unsigned long long) seen.chunks, (unsigned long long) seen.records, (unsigned long long) seen.bytes,
                 (unsigned long long) seen.answers[1], (unsigned long long) seen.answers[2],
                 (unsigned long long) seen.answers[0], (unsigned long long) seen.answers[3],
                 (unsigned long long) seen.dropped, (unsigned long long) seen.deleted, seconds, within(0.5), within(0.99),
                 within(1), status_kb("VmRSS:"), status_kb("VmHWM:"), stack_depth());
}
