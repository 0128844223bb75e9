/* The plugin's functions, looked up and called as Fluent Bit's proxy does. */
#define _GNU_SOURCE
#include "host.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* The first property of that name, in any case; an empty one reads as unset. */
static const char *get_property(const char *key, void *instance)
{
    struct output *output = instance;

    for (struct property *p = output->properties; p != NULL; p = p->next) {
        if (strcasecmp(p->key, key) == 0) {
            return *p->value == '\0' ? NULL : p->value;
        }
    }
    return NULL;
}

static void log_print(int level, const char *file, int line, const char *format, ...)
{
    static const char *const titles[] = {"off", "error", " warn", " info", "debug", "trace"};
    char text[4096];
    struct timespec at;
    struct tm tm;
    va_list args;

    (void) file;
    (void) line;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    clock_gettime(CLOCK_REALTIME, &at);
    localtime_r(&at.tv_sec, &tm);
    fprintf(stderr, "[%d/%02d/%02d %02d:%02d:%02d.%03ld] [%s] %s\n", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
            tm.tm_hour, tm.tm_min, tm.tm_sec, at.tv_nsec / 1000000, titles[level >= 0 && level <= 5 ? level : 0], text);
}

static int log_check(void *instance, int level)
{
    return ((struct output *) instance)->log_level >= level;
}

/* Fluent Bit's binary exports its functions, and a plugin may look this one up. */
const char *flb_output_name(void *instance);
const char *flb_output_name(void *instance)
{
    return ((struct output *) instance)->name;
}

static void *symbol(struct plugin *plugin, const char *name)
{
    return dlsym(plugin->library, name);
}

static void look_up(struct plugin *plugin)
{
    struct go_output *go = plugin->go;

    *(void **) &go->cb_init = symbol(plugin, "FLBPluginInit");
    *(void **) &go->cb_flush = symbol(plugin, "FLBPluginFlush");
    *(void **) &go->cb_flush_ctx = symbol(plugin, "FLBPluginFlushCtx");
    *(void **) &go->cb_exit = symbol(plugin, "FLBPluginExit");
    *(void **) &go->cb_exit_ctx = symbol(plugin, "FLBPluginExitCtx");
    if (go->cb_init == NULL) {
        die("%s has no FLBPluginInit", options.plugin);
    }
    go->name = need(strdup(plugin->def->name));
}

struct plugin *plugin_load(const char *path, int hot_reload)
{
    struct plugin *plugin = need(calloc(1, sizeof(*plugin)));
    int (*pre_register)(int);
    int (*cb_register)(struct registration *);

    plugin->library = dlopen(path, RTLD_LAZY);
    if (plugin->library == NULL) {
        die("load %s: %s", path, dlerror());
    }
    plugin->api = need(calloc(1, sizeof(*plugin->api)));
    plugin->api->output_get_property = get_property;
    plugin->api->log_print = log_print;
    plugin->api->output_log_check = log_check;
    plugin->def = need(calloc(1, sizeof(*plugin->def)));
    plugin->def->type = 2;
    plugin->go = need(calloc(1, sizeof(*plugin->go)));

    *(void **) &pre_register = symbol(plugin, "FLBPluginPreRegister");
    if (pre_register != NULL && pre_register(hot_reload) == -1) {
        die("%s refused its pre-registration", path);
    }
    *(void **) &cb_register = symbol(plugin, "FLBPluginRegister");
    if (cb_register == NULL || cb_register(plugin->def) == -1) {
        die("%s refused its registration, or has none", path);
    }
    if (plugin->def->type != 2 || plugin->def->proxy != 11 || plugin->def->name == NULL) {
        die("%s registered as type %d, proxy %d, name %s, want 2, 11 and a name", path, plugin->def->type,
            plugin->def->proxy, plugin->def->name);
    }
    look_up(plugin);
    return plugin;
}

/* Returns 1 if the output runs. The members of plugin->go are those of this
 * output only until the next call. */
int plugin_init(struct plugin *plugin, struct output *output)
{
    int (*pre_run)(int);
    int result;

    output->remote = need(calloc(1, sizeof(*output->remote)));
    plugin->go->api = plugin->api;
    plugin->go->o_ins = output;
    plugin->go->context = output->remote;
    result = plugin->go->cb_init(plugin->go);
    plugin->go->api = NULL;
    plugin->go->o_ins = NULL;
    plugin->go->context = NULL;
    if (result > 0) {
        *(void **) &pre_run = symbol(plugin, "FLBPluginOutputPreRun");
        if (pre_run != NULL) {
            pre_run(1);
        }
    }
    report_event("\"event\":\"init\",\"output\":\"%s\",\"result\":%d", output->name, result);
    return result > 0;
}

int plugin_flush(struct plugin *plugin, struct output *output, const void *data, size_t size, const char *tag)
{
    char *copy = need(strdup(tag));
    int answer;

    if (plugin->go->cb_flush_ctx != NULL) {
        answer = plugin->go->cb_flush_ctx(output->remote->remote_context, data, size, copy);
    } else {
        answer = plugin->go->cb_flush(data, size, copy);
    }
    memset(copy, '#', strlen(copy));
    free(copy);
    return answer;
}

/* An output whose Init didn't run or failed is exited too, with NULL. */
void plugin_exit(struct plugin *plugin, struct output *output, int hot_reload)
{
    struct remote *remote = output->remote;
    void (*pre_exit)(int);
    int64_t began = now();

    *(void **) &pre_exit = symbol(plugin, "FLBPluginOutputPreExit");
    if (pre_exit != NULL && remote != NULL) {
        pre_exit(hot_reload);
    }
    if (plugin->go->cb_exit_ctx != NULL) {
        plugin->go->cb_exit_ctx(remote == NULL ? NULL : remote->remote_context);
    } else if (plugin->go->cb_exit != NULL) {
        plugin->go->cb_exit();
    }
    free(remote);
    output->remote = NULL;
    report_event("\"event\":\"exit\",\"output\":\"%s\",\"ms\":%.1f", output->name, (double) (now() - began) / 1e6);
}

void plugin_unload(struct plugin *plugin)
{
    void (*unregister)(struct registration *);

    *(void **) &unregister = symbol(plugin, "FLBPluginUnregister");
    if (unregister != NULL) {
        unregister(plugin->def);
    }
    free(plugin->go->name);
    free(plugin->go);
    free(plugin->def);
    memset(plugin->api, 0xdb, sizeof(*plugin->api));
    free(plugin->api);
    dlclose(plugin->library);
    free(plugin);
}
