/*
 * What Fluent Bit 2.0 to 5.x and a Go output plugin share on 64-bit Linux, and
 * the little that this plugin keeps on the C side of it.
 *
 * The structures are Fluent Bit's own (flb_api.h and proxy/go/go.h there), cut
 * off behind the last field used here: an older Fluent Bit allocates less, so
 * nothing behind may be touched. The registration is fluent-bit-go's, which
 * leaves its config_map unset. That is there since 5.1, what it points to has a
 * layout that no version promises, and without it Fluent Bit accepts keys that
 * it doesn't know.
 */
#ifndef OUT_HDFS_FLUENTBIT_H
#define OUT_HDFS_FLUENTBIT_H

#include <semaphore.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Answers to a flush. Fluent Bit takes anything else for ERROR and deletes
 * the chunk, and so does it on ERROR: this plugin never gives that answer. */
#define FB_ERROR 0
#define FB_OK    1
#define FB_RETRY 2

#define FB_LOG_ERROR 1
#define FB_LOG_WARN  2
#define FB_LOG_INFO  3
#define FB_LOG_DEBUG 4
#define FB_LOG_TRACE 5

struct fb_api {
    const char *(*output_get_property)(const char *key, void *instance);
    const char *(*input_get_property)(const char *key, void *instance);
    void *(*output_get_cmt_instance)(void *instance);
    void *(*input_get_cmt_instance)(void *instance);
    void (*log_print)(int level, const char *file, int line, const char *format, ...);
    int (*input_log_check)(void *instance, int level);
    int (*output_log_check)(void *instance, int level);
};

struct fb_context {
    void *remote_context; /* the plugin's; handed to FlushCtx and ExitCtx */
    void *proxy;
};

/* One for all instances of the plugin: api, instance and context are those of
 * the instance that is being initialised and change with the next. */
struct fb_output {
    char *name;
    struct fb_api *api;
    void *instance;
    struct fb_context *context;
};

/* One configured output, from Init to ExitCtx. */
struct hdfs_instance {
    uintptr_t id; /* how the Go side knows it; never 0 */
    pid_t engine; /* the thread that ran Init, Fluent Bit's engine */
};

/* One flush, from its call to its return. It lies on the stack of the caller,
 * which waits for the answer. */
struct hdfs_flush {
    uintptr_t instance;
    const void *data; /* mapped or allocated by Fluent Bit, gone after return */
    size_t size;
    const char *tag;
    int on_engine; /* Fluent Bit's engine stands still until the answer */

    int answer;
    sem_t answered;
    struct hdfs_flush *next;
};

/* The handoff: flushes enter it on Fluent Bit's coroutines and leave it on a
 * thread of Go's. See handoff.c. */
void hdfs_handoff_open(void);
void hdfs_handoff_close(void);
struct hdfs_flush *hdfs_handoff_next(void);
void hdfs_handoff_answer(struct hdfs_flush *flush, int answer);
int hdfs_handoff_flush(struct hdfs_flush *flush);

/* What Go asks of Fluent Bit while Init runs. */
int hdfs_log_level(struct fb_output *plugin);
void hdfs_log(struct fb_output *plugin, int level, const char *text);
void hdfs_name(struct fb_output *plugin, char *into, size_t size);

#endif
