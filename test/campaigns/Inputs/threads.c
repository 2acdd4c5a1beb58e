/*===- threads.c - Threads that cannot be made ----------------------------===//

  Preloaded into a program, it lets pthread_create fail with EAGAIN from the
  call THREADS_AT on, counted from 1.

//===----------------------------------------------------------------------===*/

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef int (*Create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*run)(void *), void *data) {
  static atomic_int number;
  static Create create;
  const char *at = getenv("THREADS_AT");
  if (!create)
    create = (Create)dlsym(RTLD_NEXT, "pthread_create");
  if (at && ++number >= atoi(at))
    return EAGAIN;
  return create(thread, attributes, run, data);
}
