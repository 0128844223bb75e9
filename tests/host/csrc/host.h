/*
 * A stand-in for Fluent Bit that loads out_hdfs.so as Fluent Bit does, so that
 * the plugin can be tested on it: the same calls, on the same kinds of thread
 * and stack, with the same lifetimes. It is stricter where that finds mistakes:
 * a chunk is unmapped and a coroutine's stack freed as soon as a flush returns,
 * and an output's memory is overwritten after ExitCtx.
 *
 *   main.c       options, the order of life
 *   plugin.c     dlopen and the plugin's functions
 *   engine.c     the engine thread: ingests, delivers, retries, deletes
 *   flush.c      coroutines and the workers of an output
 *   chunk.c      chunk files
 *   generate.c   records with ids
 *   ndjson.c     records from a file of JSON lines
 *   raw.c        chunks from a file
 *   msgpack.c    writing msgpack
 *   report.c     what a test reads on stdout, a JSON object a line
 */
#ifndef HOST_H
#define HOST_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum { ANSWER_ERROR = 0, ANSWER_OK = 1, ANSWER_RETRY = 2 };

/* Fluent Bit's structures, in full; see its flb_plugin_proxy.h, flb_api.h and
 * proxy/go/go.h. */
struct registration {
    int type, proxy, flags;
    char *name, *description;
    int event_type;
    void *config_map;
};

struct api {
    const char *(*output_get_property)(const char *, void *);
    const char *(*input_get_property)(const char *, void *);
    void *(*output_get_cmt_instance)(void *);
    void *(*input_get_cmt_instance)(void *);
    void (*log_print)(int, const char *, int, const char *, ...);
    int (*input_log_check)(void *, int);
    int (*output_log_check)(void *, int);
    const char *(*custom_get_property)(const char *, void *);
    int (*custom_log_check)(void *, int);
};

struct remote {
    void *remote_context;
    void *proxy;
};

struct go_output {
    char *name;
    struct api *api;
    void *o_ins;
    struct remote *context;
    int (*cb_init)(struct go_output *);
    int (*cb_flush)(const void *, size_t, const char *);
    int (*cb_flush_ctx)(void *, const void *, size_t, char *);
    int (*cb_exit)(void);
    int (*cb_exit_ctx)(void *);
};

/* A loaded plugin, from one registration to its end. */
struct plugin {
    void *library;
    struct registration *def;
    struct api *api;
    struct go_output *go;
};

struct property {
    char *key, *value;
    struct property *next;
};

struct route;

/* An output of the configuration, and while it runs its workers. */
struct output {
    char name[64];
    struct property *properties;
    int workers;
    long retry_limit; /* deliveries after the first; -1 for no limit */
    int log_level;

    struct remote *remote;
    pthread_t *threads;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t ready;
    struct route *first, *last;
    int closed;
};

/* A chunk that is on its way to an output. */
struct route {
    struct chunk *chunk;
    struct output *output;
    enum { READY, RUNNING, WAITING, DONE } state;
    int deliveries;
    int64_t due; /* WAITING: when it is delivered again */
    int answer;
    int64_t took;
    struct route *next; /* in a worker's queue or among the answers */
};

struct chunk {
    char stream[64], name[128];
    char *tag;
    size_t offset, size;   /* of the content in the file */
    unsigned char *memory; /* the content, if it is in no file */
    uint64_t first_id, records; /* 0 records: unknown, from a former run */
    struct chunk *next;
    int routes_left;
    struct route routes[]; /* one for each output */
};

enum on_ok { NOTHING, KILL, STOP, LOSE };

struct options {
    const char *plugin, *storage;
    int memory;
    struct output **outputs;
    int output_count;
    size_t stack;
    uint64_t chunks, records, record_size, hours, first_id;
    int64_t start; /* of the records' times, in Unix seconds */
    char **tags;
    int tag_count;
    const char *input, *time_key; /* JSON lines instead of generated records */
    const char *raw;              /* chunks as they are instead */
    double rate;                  /* bytes a second; 0 for no limit */
    int in_flight;
    int64_t grace, linger, retry; /* nanoseconds */
    int backlog_first;
    enum on_ok on_ok;
    uint64_t on_ok_at;
    uint64_t reload_at; /* answers OK before a hot reload; 0 for none */
    int exit_null, daemonize;
    uint64_t files; /* that may be open, 0 for what is inherited */
};

struct buffer {
    unsigned char *bytes;
    size_t length, room;
};

extern struct options options;
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
int64_t now(void); /* monotonic, in nanoseconds */
void *need(void *memory);
void main_prepare_reload(void);

/* plugin.c */
struct plugin *plugin_load(const char *path, int hot_reload);
int plugin_init(struct plugin *plugin, struct output *output);
int plugin_flush(struct plugin *plugin, struct output *output, const void *data, size_t size, const char *tag);
void plugin_exit(struct plugin *plugin, struct output *output, int hot_reload);
void plugin_unload(struct plugin *plugin);

/* engine.c */
enum outcome { FINISHED, RELOAD, FAILED };
enum outcome engine_run(struct plugin *plugin);
void engine_answer(struct route *route);
void engine_wake(int signal);
void engine_prepare(void);

/* flush.c */
void flush_run(struct plugin *plugin, struct route *route);
void workers_start(struct plugin *plugin, struct output *output);
void workers_push(struct route *route);
void workers_stop(struct output *output);
size_t stack_depth(void);

/* chunk.c */
struct chunk *chunk_new(const char *tag, const struct buffer *content);
struct chunk *chunk_backlog(void);
const unsigned char *chunk_map(struct chunk *chunk, void **base, size_t *length);
void chunk_unmap(struct chunk *chunk, void *base, size_t length);
void chunk_delete(struct chunk *chunk);
void chunk_free(struct chunk *chunk);

/* generate.c, ndjson.c, raw.c */
struct chunk *generate_next(void); /* NULL when there are no more */
struct chunk *ndjson_next(void);
struct chunk *raw_next(void);

/* msgpack.c */
void put(struct buffer *b, const void *bytes, size_t length);
void put_head(struct buffer *b, int kind, size_t count); /* kind: 'a' array, 'm' map, 's' string */
void put_string(struct buffer *b, const char *text, size_t length);
void put_text(struct buffer *b, const char *text);
void put_unsigned(struct buffer *b, uint64_t n);
void put_signed(struct buffer *b, int64_t n);
void put_double(struct buffer *b, double d);
void put_event_start(struct buffer *b, uint32_t sec, uint32_t nsec);

/* report.c */
void report_event(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_chunk(const struct chunk *chunk);
void report_answer(const struct route *route);
void report_drop(const struct route *route);
void report_delete(const struct chunk *chunk);
void report_summary(void);
uint64_t report_oks(void);

#endif
