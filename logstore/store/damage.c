/* SPDX-License-Identifier: Apache-2.0 */
/* What a judge found, as words. */
#include "plural.h"
#include "reader.h"
#include "render.h"

typedef struct list {
    gpurt_text_t text;
    const char *between;
} list_t;

static void add(list_t *l, uint64_t count, const char *one, const char *many)
{
    if (!count)
        return;
    gpurt_text_printf(&l->text, "%s%llu %s", l->between, (unsigned long long)count,
                      count == 1 ? one : many);
    l->between = ", ";
}

static void say(list_t *l, bool it_is, const char *sentence)
{
    if (!it_is)
        return;
    gpurt_text_printf(&l->text, "%s%s", l->between, sentence);
    l->between = ", ";
}

bool gpurt_log_damage_text(const gpurt_log_summary_t *sum, char out[GPURT_DAMAGE_TEXT])
{
    const gplog_damage_t *d = &sum->damage;
    list_t l = {.between = ""};

    gpurt_text_init(&l.text, out, GPURT_DAMAGE_TEXT);
    if (!gplog_damage_any(d))
        return false;
    add(&l, d->torn, "damaged frame left out", "damaged frames left out");
    add(&l, d->missing, "frame missing", "frames missing");
    add(&l, d->doubled, "frame left out that came before",
        "frames left out that came before");
    add(&l, d->misplaced, "frame out of place", "frames out of place");
    add(&l, d->stray_bytes, "stray byte", "stray bytes");
    say(&l, d->index_wrong, "the index does not fit");
    say(&l, d->end_wrong, "the sums at its end do not fit");
    if (sum->told_messages > sum->messages)
        gpurt_text_printf(
            &l.text, "; of %llu record%s %llu %s here",
            (unsigned long long)sum->told_messages, gpurt_plural(sum->told_messages, "s"),
            (unsigned long long)sum->messages, sum->messages == 1 ? "is" : "are");
    gpurt_text_printf(&l.text, "; gpurt-log repair makes a whole log of what is here");
    return true;
}
