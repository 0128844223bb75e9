/*
 * The functions that Fluent Bit looks up in this plugin, as it calls them:
 *
 *   main thread    dlopen, FLBPluginRegister
 *   engine thread  FLBPluginInit for each instance
 *   coroutines     FLBPluginFlushCtx, on the engine's thread (workers 0) or on
 *                  those of the instance's workers, several at a time
 *   engine thread  FLBPluginExitCtx for each instance, with NULL for one whose
 *                  Init didn't run or failed
 *   main thread    FLBPluginUnregister
 *
 * On a hot reload the next FLBPluginRegister comes before the first ExitCtx,
 * and the next Init after the last.
 *
 * Fluent Bit's optional callbacks PreRegister, PreRun and PreExit would tell
 * this plugin nothing that it needs, so it has none.
 */
#define _GNU_SOURCE
#include "fluentbit.h"
#include "_cgo_export.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char plugin_name[] = "hdfs";

/* The process that loaded this plugin. Go's threads exist in no other: after a
 * fork, a call into Go can wait for one of them for ever. */
static pid_t loaded_by;

/* How many instances were initialised since the last registration, for the
 * name of one whose name Fluent Bit doesn't tell. Calls that change it never
 * overlap. */
static int initialised;

__attribute__((constructor)) static void remember_process(void)
{
    loaded_by = getpid();
}

static int forked(void)
{
    return getpid() != loaded_by;
}

int FLBPluginRegister(void *registration)
{
    if (forked()) {
        return -1;
    }
    initialised = 0;
    return hdfsRegister(registration);
}

/* Frees what the registration got. In a process that forked that is left alone:
 * it ends anyway. */
void FLBPluginUnregister(void *registration)
{
    if (!forked()) {
        hdfsUnregister(registration);
    }
}

int FLBPluginInit(struct fb_output *plugin)
{
    struct hdfs_instance *instance;

    if (forked()) {
        hdfs_log(plugin, FB_LOG_ERROR,
                 "Fluent Bit went into the background after it had loaded this plugin, "
                 "which can't follow it there: set `Daemon off`, start it without -d, "
                 "and leave the background to systemd or a container");
        return FB_ERROR;
    }
    instance = calloc(1, sizeof(*instance));
    if (instance == NULL) {
        hdfs_log(plugin, FB_LOG_ERROR, "no memory for another output");
        return FB_ERROR;
    }
    instance->engine = (pid_t) syscall(SYS_gettid);
    instance->id = (uintptr_t) hdfsInit(plugin);
    initialised++;
    if (instance->id == 0) {
        free(instance);
        return FB_ERROR;
    }
    plugin->context->remote_context = instance;
    return FB_OK;
}

int FLBPluginFlushCtx(void *context, const void *data, size_t size, char *tag)
{
    struct hdfs_instance *instance = context;
    struct hdfs_flush flush;

    if (instance == NULL || forked()) {
        return FB_RETRY;
    }
    flush.instance = instance->id;
    flush.data = data;
    flush.size = size;
    flush.tag = tag;
    flush.on_engine = (pid_t) syscall(SYS_gettid) == instance->engine;
    return hdfs_handoff_flush(&flush);
}

/* Only a Fluent Bit that doesn't know FLBPluginFlushCtx calls this, and it has
 * a single instance and no workers. */
int FLBPluginFlush(const void *data, size_t size, char *tag)
{
    struct hdfs_flush flush;

    if (forked()) {
        return FB_RETRY;
    }
    flush.instance = 0;
    flush.data = data;
    flush.size = size;
    flush.tag = tag;
    flush.on_engine = 1;
    return hdfs_handoff_flush(&flush);
}

int FLBPluginExitCtx(void *context)
{
    struct hdfs_instance *instance = context;

    if (instance != NULL && !forked()) {
        hdfsExit((GoUintptr) instance->id);
        free(instance);
    }
    return FB_OK;
}

/* Only a Fluent Bit that doesn't know FLBPluginExitCtx calls this. */
int FLBPluginExit(void)
{
    if (!forked()) {
        hdfsExit(0);
    }
    return FB_OK;
}

/* The level that the instance logs up to; it is final before Init. */
int hdfs_log_level(struct fb_output *plugin)
{
    int level = 0;

    while (level < FB_LOG_TRACE && plugin->api->output_log_check(plugin->instance, level + 1)) {
        level++;
    }
    return level;
}

/* Logs through Fluent Bit, so to its log_file too: only on the engine's thread. */
void hdfs_log(struct fb_output *plugin, int level, const char *text)
{
    char name[128];

    hdfs_name(plugin, name, sizeof(name));
    plugin->api->log_print(level, NULL, 0, "[output:%s:%s] %s", plugin_name, name, text);
}

/* The instance's name in Fluent Bit's log: its alias, or hdfs.0 and so on. */
void hdfs_name(struct fb_output *plugin, char *into, size_t size)
{
    const char *(*output_name)(void *instance);

    /* A function of Fluent Bit's binary, which exports all of its own. */
    *(void **) &output_name = dlsym(RTLD_DEFAULT, "flb_output_name");
    if (output_name != NULL) {
        snprintf(into, size, "%s", output_name(plugin->instance));
        return;
    }
    snprintf(into, size, "%s.%d", plugin_name, initialised);
}
