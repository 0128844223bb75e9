/*
 * Fluent Bit calls a flush on a coroutine, whose stack is a piece of heap of
 * 24 to 64 KiB without a guard page. Go can't be told how large it is, assumes
 * more, and would write into its neighbours if it ever went deep there. So Go
 * never runs on one: the flush is queued here, a thread of Go's takes it away,
 * and the coroutine waits, using the few hundred bytes that a semaphore needs.
 */
#include "fluentbit.h"

#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queued = PTHREAD_COND_INITIALIZER;
/* Guarded by lock. */
static struct hdfs_flush *first, *last;
static int is_open;

/* From now on flushes are queued, for a thread that calls hdfs_handoff_next. */
void hdfs_handoff_open(void)
{
    pthread_mutex_lock(&lock);
    is_open = 1;
    pthread_mutex_unlock(&lock);
}

/* From now on every flush is answered RETRY at once, those in the queue too,
 * and hdfs_handoff_next returns NULL. */
void hdfs_handoff_close(void)
{
    struct hdfs_flush *flush, *next;

    pthread_mutex_lock(&lock);
    is_open = 0;
    flush = first;
    first = last = NULL;
    pthread_cond_broadcast(&queued);
    pthread_mutex_unlock(&lock);

    for (; flush != NULL; flush = next) {
        next = flush->next;
        hdfs_handoff_answer(flush, FB_RETRY);
    }
}

/* Waits for the next flush; NULL once the handoff is closed. Whoever gets it
 * must answer it. */
struct hdfs_flush *hdfs_handoff_next(void)
{
    struct hdfs_flush *flush;

    pthread_mutex_lock(&lock);
    while (is_open && first == NULL) {
        pthread_cond_wait(&queued, &lock);
    }
    flush = first;
    if (flush != NULL) {
        first = flush->next;
        if (first == NULL) {
            last = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    return flush;
}

/* Answers a flush. The flush is its caller's again and must not be touched. */
void hdfs_handoff_answer(struct hdfs_flush *flush, int answer)
{
    flush->answer = answer;
    sem_post(&flush->answered);
}

/* Queues the flush and waits for its answer. */
int hdfs_handoff_flush(struct hdfs_flush *flush)
{
    if (sem_init(&flush->answered, 0, 0) != 0) {
        return FB_RETRY;
    }
    flush->next = NULL;
    flush->answer = FB_RETRY;

    pthread_mutex_lock(&lock);
    if (!is_open) {
        pthread_mutex_unlock(&lock);
        sem_destroy(&flush->answered);
        return FB_RETRY;
    }
    if (last != NULL) {
        last->next = flush;
    } else {
        first = flush;
    }
    last = flush;
    pthread_cond_signal(&queued);
    pthread_mutex_unlock(&lock);

    while (sem_wait(&flush->answered) != 0 && errno == EINTR) {
    }
    sem_destroy(&flush->answered);
    return flush->answer;
}
