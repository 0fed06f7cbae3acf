/* Children that are not MPI programs: the libraries they load, their output, and their exit status. */
#include "../observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Counts, in a child's own list of its libraries, those of an MPI and those of the shim. */
static void look_at(const char *command)
{
  char text[4096];
  int mpi = 0, shim = 0, lines = 0;
  FILE *child = popen(command, "r");
  if (!child)
    give_up("popen");
  while (fgets(text, sizeof text, child)) {
    lines++;
    mpi += strstr(text, "libmpi") || strstr(text, "libopen-") || strstr(text, "libucp");
    shim += strstr(text, "pmpi") || strstr(text, "-shim.so");
  }
  begin("%s", command);
  note(" lines=%s mpi=%d shim=%d code=%d", lines > 5 ? "many" : "few", mpi, shim, pclose(child));
  end();
}

/* Reads standard output and error of a command; there must be none. */
static void listen_to(const char *command)
{
  char text[4096] = "";
  FILE *child = popen(command, "r");
  if (!child)
    give_up("popen");
  size_t len = fread(text, 1, sizeof text - 1, child);
  begin("%s", command);
  note(" said=%zu:%.*s code=%d", len, (int)strcspn(text, "\n"), text, pclose(child));
  end();
}

static void run(char *const words[])
{
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    execvp(words[0], words);
    _exit(127);
  }
  if (child < 0 || waitpid(child, &status, 0) != child)
    give_up("fork");
  begin("%s", words[0]);
  note(" status=%d", status);
  end();
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  scene("children", 60);
  look_at("cat /proc/self/maps");
  look_at("python3 -c 'print(open(\"/proc/self/maps\").read())'");
  listen_to("{ ls -d / >/dev/null; sh -c 'exit 9'; } 2>&1");
  begin("system");
  note(" status=%d", system("exit 7"));
  end();
  run((char *[]){"false", NULL});
  run((char *[]){"sh", "-c", "kill -9 $$", NULL});
  run((char *[]){"no-such-program", NULL});
  MPI_Barrier(MPI_COMM_WORLD);
  return job_end();
}
