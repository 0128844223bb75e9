/*
 * Flushes run on coroutines: a stack of --stack bytes of heap, made for the
 * flush and freed when it returns. Below it lies a page that must stay as it
 * is: a real coroutine has somebody else's memory there.
 */
#include "host.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define BELOW 4096
#define PATTERN 0xa5

static _Thread_local struct {
    ucontext_t caller, coroutine;
    struct plugin *plugin;
    struct route *route;
    const unsigned char *data;
} current;

static atomic_size_t deepest;

/* The most bytes that a flush needed of its stack. */
size_t stack_depth(void)
{
    return atomic_load(&deepest);
}

static void note_depth(const unsigned char *stack)
{
    size_t untouched = 0, depth, known;

    while (untouched < BELOW + options.stack && stack[untouched] == PATTERN) {
        untouched++;
    }
    if (untouched < BELOW) {
        die("a flush ran over the end of its stack of %zu bytes", options.stack);
    }
    depth = BELOW + options.stack - untouched;
    known = atomic_load(&deepest);
    while (depth > known && !atomic_compare_exchange_weak(&deepest, &known, depth)) {
    }
}

static void coroutine(void)
{
    struct route *route = current.route;
    int64_t began = now();

    route->answer = plugin_flush(current.plugin, route->output, current.data, route->chunk->size, route->chunk->tag);
    route->took = now() - began;
}

/* Delivers a chunk on a coroutine of this thread and returns with its answer. */
void flush_run(struct plugin *plugin, struct route *route)
{
    unsigned char *stack = need(malloc(BELOW + options.stack));
    size_t length;
    void *base;

    current.data = chunk_map(route->chunk, &base, &length);
    memset(stack, PATTERN, BELOW + options.stack);
    current.plugin = plugin;
    current.route = route;
    getcontext(&current.coroutine);
    current.coroutine.uc_stack.ss_sp = stack + BELOW;
    current.coroutine.uc_stack.ss_size = options.stack;
    current.coroutine.uc_link = &current.caller;
    makecontext(&current.coroutine, coroutine, 0);
    if (swapcontext(&current.caller, &current.coroutine) != 0) {
        die("switch to a coroutine");
    }
    chunk_unmap(route->chunk, base, length);
    note_depth(stack);
    free(stack);
}

struct worker {
    struct plugin *plugin;
    struct output *output;
};

static void *work(void *argument)
{
    struct worker worker = *(struct worker *) argument;
    struct output *output = worker.output;
    struct route *route;

    free(argument);
    for (;;) {
        pthread_mutex_lock(&output->lock);
        while (output->first == NULL && !output->closed) {
            pthread_cond_wait(&output->ready, &output->lock);
        }
        if (output->closed) {
            pthread_mutex_unlock(&output->lock);
            return NULL;
        }
        route = output->first;
        output->first = route->next;
        if (output->first == NULL) {
            output->last = NULL;
        }
        pthread_mutex_unlock(&output->lock);
        flush_run(worker.plugin, route);
        engine_answer(route);
    }
}

void workers_start(struct plugin *plugin, struct output *output)
{
    pthread_mutex_init(&output->lock, NULL);
    pthread_cond_init(&output->ready, NULL);
    output->closed = 0;
    output->first = output->last = NULL;
    output->threads = need(calloc((size_t) output->workers + 1, sizeof(pthread_t)));
    for (int i = 0; i < output->workers; i++) {
        struct worker *worker = need(malloc(sizeof(*worker)));
        worker->plugin = plugin;
        worker->output = output;
        if (pthread_create(&output->threads[i], NULL, work, worker) != 0) {
            die("start a worker");
        }
    }
}

void workers_push(struct route *route)
{
    struct output *output = route->output;

    route->next = NULL;
    pthread_mutex_lock(&output->lock);
    if (output->last != NULL) {
        output->last->next = route;
    } else {
        output->first = route;
    }
    output->last = route;
    pthread_cond_signal(&output->ready);
    pthread_mutex_unlock(&output->lock);
}

/* Waits for the flushes that run. Those that wait in the queue never do. */
void workers_stop(struct output *output)
{
    pthread_mutex_lock(&output->lock);
    output->closed = 1;
    pthread_cond_broadcast(&output->ready);
    pthread_mutex_unlock(&output->lock);
    for (int i = 0; i < output->workers; i++) {
        pthread_join(output->threads[i], NULL);
    }
    free(output->threads);
    output->threads = NULL;
    pthread_cond_destroy(&output->ready);
    pthread_mutex_destroy(&output->lock);
}
