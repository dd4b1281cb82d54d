/* NoteG from C and whatever can call C: requests and answers as lines of JSON (docs/serve.md), in the caller's process,
 * with caches that are kept from one request to the next. Link with -lnoteg.
 *
 *   noteg_service* service = noteg_open();
 *   char* answer = noteg_ask(service, "{\"command\":\"simulate\",\"arch\":\"l4\", ...}");
 *   ...
 *   noteg_free(answer);
 *   noteg_close(service);
 */
#ifndef NOTEG_H
#define NOTEG_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NOTEG_API __attribute__((visibility("default")))
#else
#define NOTEG_API
#endif

typedef struct noteg_service noteg_service;

/* What an answer's "status" may be. */
enum noteg_status { NOTEG_DONE = 0, NOTEG_FAILED = 1, NOTEG_WRONG_INPUT = 2 };

/* Null where memory is short. Several services do not know each other. */
NOTEG_API noteg_service* noteg_open(void);

/* The answer to one request, both texts ended by a zero byte; to be given back to noteg_free. Any text gets an answer;
 * null only where memory is short. May be called from several threads at once. */
NOTEG_API char* noteg_ask(noteg_service* service, const char* request);

/* Null is fine for both. No request may be under way in noteg_close. */
NOTEG_API void noteg_free(char* answer);
NOTEG_API void noteg_close(noteg_service* service);

/* "0.1.0" */
NOTEG_API const char* noteg_version(void);

#ifdef __cplusplus
}
#endif

#endif
