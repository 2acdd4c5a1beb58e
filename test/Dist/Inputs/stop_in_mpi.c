/* Is preloaded: stops a rank (SIGSTOP) inside a call of MPI.

   STOP_CALL: init or finalize
   STOP_RANK: its number
   STOP_AFTER: milliseconds after the call has begun */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int PMPI_Init_thread(int *, char ***, int, int *);
int PMPI_Finalize(void);

static int is_meant(const char *call) {
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  return rank && !strcmp(getenv("STOP_CALL"), call) && !strcmp(getenv("STOP_RANK"), rank);
}

static void *stop(void *none) {
  usleep(1000 * atoi(getenv("STOP_AFTER")));
  kill(getpid(), SIGSTOP);
  return none;
}

static void stop_if(const char *call) {
  pthread_t thread;
  if (!is_meant(call))
    return;
  if (!atoi(getenv("STOP_AFTER")))
    stop(0);
  else
    pthread_create(&thread, 0, stop, 0);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  stop_if("init");
  return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Finalize(void) {
  stop_if("finalize");
  return PMPI_Finalize();
}
