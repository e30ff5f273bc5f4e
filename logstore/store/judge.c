/* SPDX-License-Identifier: Apache-2.0 */
#include "judge.h"

#include "crc32c.h"
#include "framesum.h"

#include <string.h>

void gplog_judge_fini(gplog_judge_t *j)
{
    gplog_sequence_fini(&j->sequence);
}

/* Numbers that are missing behind damaged bytes are of frames that were there. */
static void gap_explain(gplog_judge_t *j, uint64_t missing_before)
{
    uint64_t more = j->sequence.missing - missing_before;

    if (j->pending && j->sequence.missing > missing_before) {
        j->sum.torn += more;
        j->missed += more;
    }
    j->pending = false;
}

static bool frame_take(gplog_judge_t *j, const gplog_piece_t *piece, bool *kept)
{
    const uint64_t before = j->sequence.missing;
    gplog_index_entry_t entry;
    gplog_place_t place;
    gplog_frame_t f;

    memcpy(&f, piece->body, sizeof f);
    if (!gplog_sequence_take(&j->sequence, f.number, &place))
        return false;
    gap_explain(j, before);
    entry = gplog_frame_entry(&f, piece->offset);
    j->listed_sum = gpurt_crc32c(j->listed_sum, &entry, sizeof entry);
    j->listed++;
    j->sum.misplaced += place == GPLOG_PLACE_LATE;
    j->sum.doubled += place == GPLOG_PLACE_DOUBLE;
    *kept = place != GPLOG_PLACE_DOUBLE;
    if (*kept)
        gplog_end_add(&j->total, &f);
    return true;
}

static bool is_whole(const gplog_judge_t *j)
{
    gplog_damage_t d;

    gplog_judge_damage(j, 0, &d);
    return !gplog_damage_any(&d);
}

/* Where frames are damaged it is known that the index has more. */
static void index_take(gplog_judge_t *j, const gplog_piece_t *piece)
{
    gplog_index_t head;
    const uint64_t bytes = j->listed * sizeof(gplog_index_entry_t);
    bool fits = piece->body_bytes >= sizeof head;

    if (fits) {
        memcpy(&head, piece->body, sizeof head);
        fits = head.count == j->listed && head.previous == j->total.index &&
               head.dict == j->dict_at && head.file == j->file_at &&
               piece->body_bytes >= sizeof head + bytes &&
               gpurt_crc32c(0, piece->body + sizeof head, (size_t)bytes) == j->listed_sum;
    }
    if (!fits && is_whole(j))
        j->sum.index_wrong = true;
    j->total.index = piece->offset;
    j->listed = j->listed_sum = 0;
}

/* One of before has the sums of its run alone, and after a repair fewer frames than their numbers
 * say. */
static bool end_take(gplog_judge_t *j, const gplog_piece_t *piece)
{
    const uint64_t before = j->sequence.missing;
    gplog_end_t end;

    if (piece->body_bytes < sizeof end) {
        j->sum.end_wrong = true;
        return true;
    }
    memcpy(&end, piece->body, sizeof end);
    if (!gplog_sequence_expect(&j->sequence, end.frames))
        return false;
    gap_explain(j, before);
    if (!(piece->flags & GPLOG_WHOLE))
        return true;
    j->told = end;
    if (!is_whole(j))
        return true;
    j->sum.index_wrong = end.index != j->total.index;
    j->sum.end_wrong = end.frames != j->sequence.next ||
                       end.messages != j->total.messages || end.lost != j->total.lost ||
                       end.panics != j->total.panics || end.first_ns != j->total.first_ns ||
                       end.last_ns != j->total.last_ns;
    return true;
}

bool gplog_judge_block(gplog_judge_t *j, const gplog_piece_t *piece, bool *kept)
{
    *kept = true;
    j->sum.stray_bytes += piece->skipped;
    j->pending |= piece->skipped != 0;
    switch (piece->type) {
    case GPLOG_FILE:
        j->file_at = piece->offset;
        return true;
    case GPLOG_DICT:
        j->dict_at = piece->offset;
        return true;
    case GPLOG_FRAME:
        return frame_take(j, piece, kept);
    case GPLOG_INDEX:
        index_take(j, piece);
        return true;
    case GPLOG_END:
        return end_take(j, piece);
    default:
        return true;
    }
}

/* Damage behind which no frame tells its number is one torn frame for all we know. */
void gplog_judge_damage(const gplog_judge_t *j, uint64_t tail, gplog_damage_t *out)
{
    *out = j->sum;
    out->torn += j->pending || tail;
    out->missing = j->sequence.missing > j->missed ? j->sequence.missing - j->missed : 0;
    out->stray_bytes += tail;
}
