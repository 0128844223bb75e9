/*
 * The engine: one thread that ingests chunks, gives each to every output, hears
 * the answers, delivers again what was answered RETRY, and deletes a chunk when
 * all outputs are done with it. Outputs without workers flush on this thread,
 * and everything stands still meanwhile.
 */
#include "host.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SECOND 1000000000LL

static int wake_fd;
static volatile sig_atomic_t told_to_stop;

/* Answers of the workers, under answer_lock. */
static pthread_mutex_t answer_lock = PTHREAD_MUTEX_INITIALIZER;
static struct route *answered;

static struct {
    struct plugin *plugin;
    struct chunk *chunks;  /* live, the oldest first */
    struct chunk *backlog; /* what was there at the start, until it is taken */
    int live, running;
    uint64_t bytes; /* ingested, for the rate */
    int64_t began;
    int ingested, backlog_taken;
    int stopping, losing;
    int64_t stop_at, finished_at;
    uint64_t oks; /* of this engine, for the reload */
} engine;

/* Called in a signal handler too. */
void engine_wake(int signal)
{
    uint64_t one = 1;
    int saved = errno;

    if (signal != 0) {
        told_to_stop = 1;
    }
    if (write(wake_fd, &one, sizeof(one)) < 0) {
        /* the counter is full, so the engine is awake */
    }
    errno = saved;
}

void engine_prepare(void)
{
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_fd < 0) {
        die("make an eventfd: %s", strerror(errno));
    }
}

void engine_answer(struct route *route)
{
    pthread_mutex_lock(&answer_lock);
    route->next = answered;
    answered = route;
    pthread_mutex_unlock(&answer_lock);
    engine_wake(0);
}

static void add_chunk(struct chunk *chunk)
{
    struct chunk **last = &engine.chunks;

    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = chunk;
    engine.live++;
}

static void finish_chunk(struct chunk *chunk)
{
    struct chunk **at = &engine.chunks;

    while (*at != chunk) {
        at = &(*at)->next;
    }
    *at = chunk->next;
    engine.live--;
    chunk_delete(chunk);
    report_delete(chunk);
    chunk_free(chunk);
}

static void finish_route(struct route *route)
{
    route->state = DONE;
    if (--route->chunk->routes_left == 0) {
        finish_chunk(route->chunk);
    }
}

/* What a test asked to happen between an answer OK and what follows it. */
static void after_ok(void)
{
    if (options.on_ok == NOTHING || report_oks() != options.on_ok_at) {
        return;
    }
    switch (options.on_ok) {
    case KILL:
        kill(getpid(), SIGKILL);
        break;
    case STOP:
        raise(SIGSTOP); /* sent to this thread, so that it does nothing more */
        break;
    default:
        engine.losing = 1;
    }
}

/* As Fluent Bit: OK and ERROR end the route, and so does a RETRY too many. */
static void hear(struct route *route)
{
    int64_t wait = options.retry << (route->deliveries < 5 ? route->deliveries - 1 : 4);

    engine.running--;
    report_answer(route);
    if (route->answer == ANSWER_OK) {
        engine.oks++;
        after_ok();
        if (engine.losing) {
            route->state = WAITING; /* the answer never arrived */
            route->due = INT64_MAX;
            return;
        }
        finish_route(route);
    } else if (route->answer != ANSWER_RETRY ||
               (route->output->retry_limit >= 0 && route->deliveries > route->output->retry_limit)) {
        report_drop(route);
        finish_route(route);
    } else {
        route->state = WAITING;
        /* While it shuts down Fluent Bit retries every second. */
        route->due = now() + (engine.stopping ? SECOND : wait);
    }
}

static void hear_workers(void)
{
    struct route *route, *next, *in_order = NULL;

    pthread_mutex_lock(&answer_lock);
    route = answered;
    answered = NULL;
    pthread_mutex_unlock(&answer_lock);
    for (; route != NULL; route = next) {
        next = route->next;
        route->next = in_order;
        in_order = route;
    }
    for (; in_order != NULL; in_order = next) {
        next = in_order->next;
        hear(in_order);
    }
}

static void deliver(struct route *route)
{
    route->state = RUNNING;
    route->deliveries++;
    engine.running++;
    if (route->output->workers > 0) {
        workers_push(route);
        return;
    }
    flush_run(engine.plugin, route);
    hear(route);
}

static struct route *next_due(void)
{
    for (struct chunk *chunk = engine.chunks; chunk != NULL; chunk = chunk->next) {
        for (int i = 0; i < options.output_count; i++) {
            struct route *route = &chunk->routes[i];
            if (route->state == READY || (route->state == WAITING && route->due <= now())) {
                return route;
            }
        }
    }
    return NULL;
}

static void deliver_due(void)
{
    struct route *route;

    while (!engine.losing && (route = next_due()) != NULL) {
        deliver(route);
    }
}

static void take_backlog(void)
{
    struct chunk *chunk = engine.backlog, *next;

    engine.backlog = NULL;
    engine.backlog_taken = 1;
    for (; chunk != NULL; chunk = next) {
        next = chunk->next;
        chunk->next = NULL;
        add_chunk(chunk);
    }
}

/* Ingests one chunk if the rate and the number in flight allow. */
static int ingest(void)
{
    struct chunk *chunk;

    if (engine.ingested || engine.stopping || engine.live >= options.in_flight) {
        return 0;
    }
    if (options.rate > 0 && (double) engine.bytes / options.rate * SECOND > (double) (now() - engine.began)) {
        return 0;
    }
    chunk = options.raw != NULL ? raw_next() : options.input != NULL ? ndjson_next() : generate_next();
    if (chunk == NULL) {
        engine.ingested = 1;
        return 0;
    }
    engine.bytes += chunk->size;
    report_chunk(chunk);
    add_chunk(chunk);
    return 1;
}

/* How long nothing is to be done, in milliseconds, if nothing happens. */
static int idle_ms(void)
{
    int64_t until = now() + SECOND / 10;

    for (struct chunk *chunk = engine.chunks; chunk != NULL; chunk = chunk->next) {
        for (int i = 0; i < options.output_count; i++) {
            if (chunk->routes[i].state == WAITING && chunk->routes[i].due < until) {
                until = chunk->routes[i].due;
            }
        }
    }
    if (!engine.ingested && options.rate > 0) {
        int64_t due = engine.began + (int64_t) ((double) engine.bytes / options.rate * SECOND);
        until = due < until ? due : until;
    }
    until -= now();
    return until <= 0 ? 0 : (int) (until / 1000000) + 1;
}

static void begin_to_stop(void)
{
    engine.stopping = 1;
    engine.stop_at = now() + options.grace;
    for (struct chunk *chunk = engine.chunks; chunk != NULL; chunk = chunk->next) {
        for (int i = 0; i < options.output_count; i++) {
            if (chunk->routes[i].state == WAITING) {
                chunk->routes[i].due = now();
            }
        }
    }
}

/* Whether the engine is at its end, and why. */
static int ended(enum outcome *outcome)
{
    *outcome = FINISHED;
    if (engine.losing && engine.running == 0) {
        return 1;
    }
    if (options.reload_at > 0 && engine.oks >= options.reload_at) {
        *outcome = RELOAD;
        return 1;
    }
    if (engine.stopping) {
        return engine.live == 0 || now() >= engine.stop_at;
    }
    if (!engine.ingested || !engine.backlog_taken || engine.live > 0) {
        return 0;
    }
    if (engine.finished_at == 0) {
        engine.finished_at = now();
        report_event("\"event\":\"delivered\"");
    }
    return now() - engine.finished_at >= options.linger;
}

static enum outcome loop(void)
{
    struct pollfd fd = {.fd = wake_fd, .events = POLLIN};
    enum outcome outcome;
    uint64_t count;

    for (;;) {
        if (told_to_stop && !engine.stopping) {
            begin_to_stop();
        }
        hear_workers();
        if (options.backlog_first && !engine.backlog_taken) {
            take_backlog();
        }
        int more = ingest();
        if (engine.ingested && !engine.backlog_taken) {
            take_backlog();
        }
        deliver_due();
        if (ended(&outcome)) {
            return outcome;
        }
        if (!more && poll(&fd, 1, idle_ms()) > 0 && read(wake_fd, &count, sizeof(count)) < 0) {
            continue; /* another wake-up was faster */
        }
    }
}

static void free_all(struct chunk *chunk)
{
    struct chunk *next;

    for (; chunk != NULL; chunk = next) {
        next = chunk->next;
        chunk_free(chunk);
    }
}

/* Ends the outputs. Answers that come from now on are never heard. */
static void exit_all(int started, int hot_reload)
{
    for (int i = 0; i < started; i++) {
        workers_stop(options.outputs[i]);
    }
    for (int i = 0; i < options.output_count; i++) {
        plugin_exit(engine.plugin, options.outputs[i], hot_reload);
    }
    pthread_mutex_lock(&answer_lock);
    answered = NULL;
    pthread_mutex_unlock(&answer_lock);
    free_all(engine.chunks);
    free_all(engine.backlog);
}

enum outcome engine_run(struct plugin *plugin)
{
    enum outcome outcome;

    memset(&engine, 0, sizeof(engine));
    engine.plugin = plugin;
    for (int i = 0; i < options.output_count; i++) {
        if (!plugin_init(plugin, options.outputs[i])) {
            exit_all(i, 0);
            return FAILED;
        }
        workers_start(plugin, options.outputs[i]);
    }
    engine.began = now();
    engine.backlog = chunk_backlog();
    outcome = loop();
    if (outcome == RELOAD) {
        main_prepare_reload();
    }
    exit_all(options.output_count, outcome == RELOAD);
    return outcome;
}
