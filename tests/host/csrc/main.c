#define _GNU_SOURCE
#include "host.h"

#include <getopt.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct options options = {
    .stack = 64 << 10,
    .records = 100,
    .record_size = 200,
    .hours = 1,
    .first_id = 1,
    .start = 1764460800,
    .time_key = "date",
    .in_flight = 16,
    .grace = 5000000000,
    .retry = 100000000,
};

void die(const char *format, ...)
{
    va_list args;

    fputs("host: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    _exit(70);
}

int64_t now(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t) at.tv_sec * 1000000000 + at.tv_nsec;
}

void *need(void *memory)
{
    if (memory == NULL) {
        die("out of memory");
    }
    return memory;
}

static struct output *last_output(const char *option)
{
    if (options.output_count == 0) {
        die("--%s needs an --output before it", option);
    }
    return options.outputs[options.output_count - 1];
}

static void add_output(const char *name)
{
    struct output *output = need(calloc(1, sizeof(*output)));

    snprintf(output->name, sizeof(output->name), "%s", name);
    output->retry_limit = -1;
    output->log_level = 3;
    options.outputs = need(realloc(options.outputs, sizeof(*options.outputs) * (size_t) (options.output_count + 1)));
    options.outputs[options.output_count++] = output;
}

static void add_property(struct output *output, const char *text)
{
    const char *equals = strchr(text, '=');
    struct property **last = &output->properties, *p = need(calloc(1, sizeof(*p)));

    if (equals == NULL) {
        die("--set takes key=value, not %s", text);
    }
    p->key = need(strndup(text, (size_t) (equals - text)));
    p->value = need(strdup(equals + 1));
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = p;
}

static void add_tag(const char *tag)
{
    options.tags = need(realloc(options.tags, sizeof(*options.tags) * (size_t) (options.tag_count + 1)));
    options.tags[options.tag_count++] = need(strdup(tag));
}

static void set_on_ok(const char *text)
{
    char action[16];
    unsigned long long at;

    if (sscanf(text, "%15[a-z]@%llu", action, &at) != 2) {
        die("--on-ok takes kill@N, stop@N or lose@N, not %s", text);
    }
    options.on_ok = strcmp(action, "kill") == 0 ? KILL : strcmp(action, "stop") == 0 ? STOP : LOSE;
    options.on_ok_at = at;
}

static int64_t nanoseconds(const char *seconds)
{
    return (int64_t) (strtod(seconds, NULL) * 1e9);
}

enum { FLAG, TEXT, COUNT, SIZE, INT, BYTES, NANOSECONDS, OUTPUT, SET, WORKERS, RETRY_LIMIT, LEVEL, TAG, ON_OK };

static const struct known {
    const char *name;
    int kind;
    void *into;
} known[] = {
    {"plugin", TEXT, &options.plugin},
    {"storage", TEXT, &options.storage},
    {"memory", FLAG, &options.memory},
    {"output", OUTPUT, NULL},
    {"set", SET, NULL},
    {"workers", WORKERS, NULL},
    {"retry-limit", RETRY_LIMIT, NULL},
    {"log-level", LEVEL, NULL},
    {"stack", SIZE, &options.stack},
    {"chunks", COUNT, &options.chunks},
    {"records", COUNT, &options.records},
    {"record-size", COUNT, &options.record_size},
    {"hours", COUNT, &options.hours},
    {"first-id", COUNT, &options.first_id},
    {"start", COUNT, &options.start},
    {"tag", TAG, NULL},
    {"input", TEXT, &options.input},
    {"raw", TEXT, &options.raw},
    {"time-key", TEXT, &options.time_key},
    {"rate", BYTES, &options.rate},
    {"in-flight", INT, &options.in_flight},
    {"grace", NANOSECONDS, &options.grace},
    {"linger", NANOSECONDS, &options.linger},
    {"retry", NANOSECONDS, &options.retry},
    {"backlog-first", FLAG, &options.backlog_first},
    {"on-ok", ON_OK, NULL},
    {"reload-at", COUNT, &options.reload_at},
    {"exit-null", FLAG, &options.exit_null},
    {"daemon", FLAG, &options.daemonize},
    {"files", COUNT, &options.files},
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

static void take(const struct known *k, const char *value)
{
    switch (k->kind) {
    case FLAG: *(int *) k->into = 1; break;
    case TEXT: *(const char **) k->into = value; break;
    case COUNT: *(uint64_t *) k->into = strtoull(value, NULL, 10); break;
    case SIZE: *(size_t *) k->into = strtoull(value, NULL, 10); break;
    case INT: *(int *) k->into = atoi(value); break;
    case BYTES: *(double *) k->into = strtod(value, NULL); break;
    case NANOSECONDS: *(int64_t *) k->into = nanoseconds(value); break;
    case OUTPUT: add_output(value); break;
    case SET: add_property(last_output(k->name), value); break;
    case WORKERS: last_output(k->name)->workers = atoi(value); break;
    case RETRY_LIMIT: last_output(k->name)->retry_limit = strcmp(value, "no_limits") == 0 ? -1 : atol(value); break;
    case LEVEL: last_output(k->name)->log_level = atoi(value); break;
    case TAG: add_tag(value); break;
    case ON_OK: set_on_ok(value); break;
    }
}

static void parse(int argc, char **argv)
{
    struct option longs[KNOWN + 1] = {0};
    int i;

    for (size_t k = 0; k < KNOWN; k++) {
        longs[k].name = known[k].name;
        longs[k].has_arg = known[k].kind == FLAG ? no_argument : required_argument;
    }
    while ((i = -1, getopt_long(argc, argv, "", longs, &i)) == 0) {
        take(&known[i], optarg);
    }
    if (i >= 0 || optind != argc) {
        die("unknown option, or one without its value");
    }
    if (options.plugin == NULL || options.output_count == 0 || (options.storage == NULL && !options.memory)) {
        die("--plugin, --output, and --storage or --memory are required");
    }
    if (options.hours == 0 || options.records == 0) {
        die("--hours and --records are at least 1");
    }
    if (options.tag_count == 0) {
        add_tag("host.test");
    }
}

/* Forks as `Daemon on` does, after the plugin was loaded; the parent's end is
 * the child's, for the sake of who waits for it. */
static void go_into_background(void)
{
    pid_t child = fork();
    int status;

    if (child < 0) {
        die("fork");
    }
    if (child > 0) {
        waitpid(child, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 71);
    }
    setsid();
}

static void handle_signals(void)
{
    struct sigaction action = {.sa_handler = engine_wake, .sa_flags = SA_RESTART};

    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void limit_files(void)
{
    struct rlimit limit = {.rlim_cur = options.files, .rlim_max = options.files};

    if (options.files > 0 && setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        die("limit the open files");
    }
}

struct run {
    struct plugin *plugin;
    enum outcome outcome;
};

/* What the engine's thread and the main thread tell each other. */
static sem_t engine_stops, main_is_ready;

/* The main thread registers the next plugin while the old outputs still run. */
void main_prepare_reload(void)
{
    sem_post(&engine_stops);
    while (sem_wait(&main_is_ready) != 0) {
    }
}

static void *engine_thread(void *argument)
{
    struct run *run = argument;

    run->outcome = engine_run(run->plugin);
    if (run->outcome != RELOAD) {
        sem_post(&engine_stops);
    }
    return NULL;
}

/* Runs an engine to its end. Returns the plugin for the next one, or NULL. */
static struct plugin *run_engine(struct plugin *plugin, enum outcome *outcome)
{
    struct run run = {.plugin = plugin, .outcome = RELOAD};
    struct plugin *next = NULL;
    pthread_t thread;

    if (pthread_create(&thread, NULL, engine_thread, &run) != 0) {
        die("start the engine");
    }
    while (sem_wait(&engine_stops) != 0) {
    }
    if (run.outcome == RELOAD) {
        next = plugin_load(options.plugin, 1);
        sem_post(&main_is_ready);
    }
    pthread_join(thread, NULL);
    *outcome = run.outcome;
    return next;
}

/* An output's memory of before a reload is rubbish after it. */
static void renew_outputs(void)
{
    for (int i = 0; i < options.output_count; i++) {
        struct output *old = options.outputs[i], *fresh = need(malloc(sizeof(*fresh)));
        *fresh = *old;
        memset(old, 0xdb, sizeof(*old));
        free(old);
        options.outputs[i] = fresh;
    }
}

int main(int argc, char **argv)
{
    struct plugin *plugin, *next;
    enum outcome outcome = FINISHED;

    parse(argc, argv);
    limit_files();
    engine_prepare();
    handle_signals();
    sem_init(&engine_stops, 0, 0);
    sem_init(&main_is_ready, 0, 0);
    plugin = plugin_load(options.plugin, 0);
    if (options.daemonize) {
        go_into_background();
    }
    if (options.exit_null) {
        for (int i = 0; i < options.output_count; i++) {
            plugin_exit(plugin, options.outputs[i], 0);
        }
        plugin_unload(plugin);
        return 0;
    }
    for (; plugin != NULL; plugin = next) {
        next = run_engine(plugin, &outcome);
        plugin_unload(plugin);
        renew_outputs();
        options.reload_at = 0;
    }
    report_summary();
    return outcome == FAILED ? 1 : 0;
}
