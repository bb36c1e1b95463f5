// The executable of Hunch.app: runs `python -I -m app` in this process, from the Python beside it, so that Dock, menu
// bar and permissions belong to Hunch. Errors go to stderr and to the exit status; where it was started without a
// command, as from the Dock, a window says what ended and how. (A signal ends this process too: macOS reports that.)
#include <dlfcn.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#define LIBRARY "lib/libpython" PYTHON_VERSION ".dylib"
#else
#include <sys/auxv.h>
#define LIBRARY "lib/libpython" PYTHON_VERSION ".so.1.0"
#endif

static int executable(char *path, char **arguments) {
    char found[PATH_MAX];
#ifdef __APPLE__
    uint32_t size = sizeof found;
    if (_NSGetExecutablePath(found, &size) != 0) return 0;
#else
    snprintf(found, sizeof found, "%s", (const char *)getauxval(AT_EXECFN));
#endif
    struct stat given;
    if (realpath(found, path) == NULL) return 0;
    // By a link, as Homebrew's `hunch` is one, macOS finds no app around this process: no name and no icon.
    if (lstat(found, &given) == 0 && S_ISLNK(given.st_mode)) execv(path, arguments);
    return 1;
}

static int alerts; // whether a window says what goes wrong
static char alert[2 * PATH_MAX];

static void say(const char *name, int status) {
    char number[16];
    snprintf(number, sizeof number, "%d", status);
    pid_t child = alerts ? fork() : -1;
    if (child == 0) {
        execl("/bin/sh", "sh", alert, name, number, (char *)NULL);
        _exit(1);
    }
    if (child > 0) waitpid(child, NULL, 0);
}

static int refuse(void) {
    say("damaged", 1);
    return 1;
}

static int (*is_initialized)(void);
static int has_run;

// Python ends the process by itself where it finds its own modules missing.
static void on_exit_of_python(void) {
    if (!has_run && !is_initialized()) refuse();
}

static void *function(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (found == NULL) {
        fprintf(stderr, "Hunch: %s\n", dlerror());
        exit(refuse());
    }
    return found;
}

int main(int count, char **arguments) {
    static char path[PATH_MAX], home[PATH_MAX + 32], library_path[2 * PATH_MAX];
    if (!executable(path, arguments)) {
        fprintf(stderr, "Hunch: its own place is not known\n");
        return 1;
    }
    char *contents = strstr(path, "/MacOS/");
    for (char *next = contents; next != NULL; next = strstr(next + 1, "/MacOS/")) contents = next; // the last one
    if (contents == NULL) {
        fprintf(stderr, "Hunch: %s is not in an app\n", path);
        return 1;
    }
    alerts = count == 1 && !isatty(STDERR_FILENO);
    snprintf(alert, sizeof alert, "%.*s/Resources/alert.sh", (int)(contents - path), path);
    snprintf(home, sizeof home, "%.*s/Resources/python", (int)(contents - path), path);
    snprintf(library_path, sizeof library_path, "%s/%s", home, LIBRARY);
    void *library = dlopen(library_path, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        fprintf(stderr, "Hunch: %s\n", dlerror());
        return refuse();
    }
    wchar_t *(*decode)(const char *, size_t *) = function(library, "Py_DecodeLocale");
    void (*set_home)(const wchar_t *) = function(library, "Py_SetPythonHome");
    int (*run)(int, char **) = function(library, "Py_BytesMain");
    is_initialized = function(library, "Py_IsInitialized");
    setlocale(LC_CTYPE, "C.UTF-8"); // paths are UTF-8, whatever the terminal says; macOS's Python knows
    set_home(decode(home, NULL));

    char *own[] = {path, "-I", "-B", "-m", "app"}; // -B: nothing is written into a sealed bundle
    int own_count = sizeof own / sizeof *own;
    char **all = calloc(count + own_count, sizeof *all);
    if (all == NULL) return 1;
    memcpy(all, own, sizeof own);
    memcpy(all + own_count, arguments + 1, (count - 1) * sizeof *all);
    atexit(on_exit_of_python);
    int status = run(own_count + count - 1, all);
    has_run = 1;
    if (status != 0) say("ended", status);
    return status;
}
