/* SPDX-License-Identifier: Apache-2.0 */
/* The option parser: what each spelling means, what each mistake is told, what a verb does
 * not heed, and that help and the manual page come out of the same table. */
#include "../check.h"
#include "option.h"

struct values {
    bool keep, quiet;
    uint32_t tool;
    const char *output;
    uint64_t seeds, timeout_ns;
};

enum {
    RACE = 1,
    ASAN = 2
};

#define AT(member) .offset = offsetof(struct values, member)
static const gpurt_option_t rows[] = {
    {.section = "What to do",
     .letter = 'k',
     .name = "keep-going",
     AT(keep),
     .help = "go on"},
    {.letter = 'q', AT(quiet), .help = "say less"},
    {.name = "race", .kind = GPURT_OPTION_PICK, AT(tool), .pick = RACE, .help = "races"},
    {.name = "asan",
     .kind = GPURT_OPTION_PICK,
     AT(tool),
     .pick = ASAN,
     .help = "addresses"},
    {.section = "How much",
     .letter = 'n',
     .name = "seeds",
     .arg = "N",
     AT(seeds),
     .kind = GPURT_OPTION_NUMBER,
     .min = 1,
     .max = 1000,
     .help = "how many; this sentence is long enough to be broken into two lines of help"},
    {.letter = 'o',
     .name = "output",
     .arg = "FILE",
     AT(output),
     .kind = GPURT_OPTION_STRING,
     .help = "where to"},
    {.name = "timeout",
     .arg = "S",
     AT(timeout_ns),
     .kind = GPURT_OPTION_SECONDS,
     .help = "how long.\n.It's a \\ trap for roff"},
    {.name = "seed", .arg = "N", AT(seeds), .kind = GPURT_OPTION_NUMBER, .help = "one"},
    {0},
};

static const gpurt_option_text_t texts[] = {
    {"EXAMPLES", "Two of them:\n\n  first -- one\n  second"},
    {0},
};

static gpurt_option_program_t program = {
    .name = "gpurt-try",
    .summary = "try options",
    .synopsis = "[OPTION...] FILE...",
    .description = "Tries options.",
    .options = rows,
    .texts = texts,
    .bad_status = 125,
};

/* One check of many alike: says which command line it was. */
static void check(bool holds, const char *what, const char *detail)
{
    CHECK_MSG(holds, "%s: %s", what, detail);
}

/* One parse: its values, operands and everything it printed. */
typedef struct parse {
    struct values values;
    int status, operands;
    char *argv[16];
    char words[256], out[8192], err[1024];
} parse_t;

/* `line` is split at spaces. */
static parse_t *parse(const char *line)
{
    static parse_t p;
    int argc = 1;

    memset(&p, 0, sizeof p);
    snprintf(p.words, sizeof p.words, "%s", line);
    p.argv[0] = (char *)"gpurt-try";
    for (char *word = strtok(p.words, " "); word; word = strtok(NULL, " "))
        p.argv[argc++] = word;
    program.out = fmemopen(p.out, sizeof p.out - 1, "w");
    program.err = fmemopen(p.err, sizeof p.err - 1, "w");
    p.status = gpurt_option_parse(&program, argc, p.argv, &p.values, &p.operands);
    fclose(program.out);
    fclose(program.err);
    return &p;
}

static void expect_values(const char *line, struct values want, const char *operands)
{
    parse_t *p = parse(line);
    char got[256] = "";

    check(p->status == -1, line, p->err);
    check(p->values.keep == want.keep && p->values.quiet == want.quiet, line, "a flag");
    check(p->values.tool == want.tool, line, "a pick");
    check(p->values.seeds == want.seeds, line, "a number");
    check(p->values.timeout_ns == want.timeout_ns, line, "a time");
    check(!want.output == !p->values.output &&
              (!want.output || strcmp(want.output, p->values.output) == 0),
          line, "a string");
    for (int i = 1; p->status == -1 && i <= p->operands; i++) {
        strcat(got, p->argv[i]);
        strcat(got, i < p->operands ? " " : "");
    }
    check(strcmp(got, operands) == 0, line, got);
    check(p->status != -1 || !p->argv[p->operands + 1], line, "operands end with NULL");
}

static void expect_refusal(const char *line, const char *message)
{
    parse_t *p = parse(line);

    check(p->status == 125, line, "is not refused");
    check(strncmp(p->err, "gpurt-try: ", 11) == 0 && strcmp(p->err + 11, message) == 0,
          line, p->err);
}

#define V(...) ((struct values){__VA_ARGS__})
static void test_spellings(void)
{
    expect_values("", V(0), "");
    expect_values("-k", V(.keep = true), "");
    expect_values("-kqn7", V(.keep = true, .quiet = true, .seeds = 7), "");
    expect_values("-n 7 -n 8", V(.seeds = 8), "");
    expect_values("--seeds=9 -ofile", V(.seeds = 9, .output = "file"), "");
    expect_values("--seeds 0x10 -o -", V(.seeds = 16, .output = "-"), "");
    expect_values("--output=", V(.output = ""), "");
    expect_values("-o -k", V(.output = "-k"), "");
    expect_values("--keep", V(.keep = true), "");
    expect_values("--seed 2000", V(.seeds = 2000), "");
    expect_values("--race --race", V(.tool = RACE), "");
    expect_values("--timeout 10", V(.timeout_ns = 10000000000), "");
    expect_values("--timeout 0.25", V(.timeout_ns = 250000000), "");
    expect_values("--timeout 1.5m", V(.timeout_ns = 90000000000), "");
    expect_values("--timeout=300ms", V(.timeout_ns = 300000000), "");
}

static void test_operands(void)
{
    expect_values("a -k b - c", V(.keep = true), "a b - c");
    expect_values("a -- -k --", V(0), "a -k --");
    program.operand_ends = true;
    expect_values("-k a -q --race -- b", V(.keep = true), "a -q --race -- b");
    expect_values("-k -- -a -q", V(.keep = true), "-a -q");
    program.operand_ends = false;
}

static void test_mistakes(void)
{
    expect_refusal("--sede", "unknown option --sede; did you mean --seed?\n");
    expect_refusal("--saeds=3", "unknown option --saeds; did you mean --seeds?\n");
    expect_refusal("--versoin", "unknown option --versoin; did you mean --version?\n");
    expect_refusal("--blue", "unknown option --blue; see gpurt-try --help\n");
    expect_refusal("--mn", "unknown option --mn; see gpurt-try --help\n");
    expect_refusal("--=3", "unknown option --; see gpurt-try --help\n");
    expect_refusal("-kx", "unknown option -x; see gpurt-try --help\n");
    expect_refusal("--see 3", "--see could be --seeds or --seed\n");
    expect_refusal("--race=yes", "--race takes no value\n");
    expect_refusal("--race --asan", "--race and --asan exclude each other\n");
    expect_refusal("--seeds", "--seeds needs a value: --seeds N\n");
    expect_refusal("-qn", "-n needs a value: -n N\n");
    expect_refusal("-n 3x", "-n: '3x' is not a whole number\n");
    expect_refusal("-n -3", "-n: '-3' is not a whole number\n");
    expect_refusal("-n 0x", "-n: '0x' is not a whole number\n");
    expect_refusal("--seed 18446744073709551616",
                   "--seed: '18446744073709551616' is not a whole number\n");
    expect_refusal("-n 0", "-n: 0 is not between 1 and 1000\n");
    expect_refusal("-n 1001", "-n: 1001 is not between 1 and 1000\n");
    for (const char *const *time = (const char *const[]){"x", "-1", ".5", "1q", "1.2.3",
                                                         "0x10", "99999999999h", NULL};
         *time; time++) {
        char line[64], message[128];

        snprintf(line, sizeof line, "--timeout %s", *time);
        snprintf(message, sizeof message,
                 "--timeout: '%s' is not a time; say 10, 0.5, 300ms or 2m\n", *time);
        expect_refusal(line, message);
    }
}

static void expect_output(const char *line, const char *const *parts)
{
    parse_t *p = parse(line);
    const char *rest = p->out;

    check(p->status == 0 && p->err[0] == '\0', line, "does not end well");
    for (; *parts; parts++) {
        const char *found = strstr(rest, *parts);

        check(found != NULL, line, *parts);
        rest = found ? found : rest;
    }
}

static void test_help(void)
{
    expect_output(
        "-k --help --nonsense",
        (const char *const[]){
            "Usage: gpurt-try [OPTION...] FILE...\n\nTries options.\n\nWhat to do:\n"
            "  -k, --keep-going        go on\n"
            "  -q                      say less\n"
            "      --race              races\n",
            "\n\nHow much:\n  -n, --seeds N           how many; this sentence is long "
            "enough to be broken",
            "\n                          into two lines of help\n", "  -h, --help ",
            "  -V, --version ", "\nExamples:\nTwo of them:\n\n  first -- one\n  second\n",
            NULL});
    expect_output("-V", (const char *const[]){"gpurt-try 0.", NULL});
}

static void test_man(void)
{
    expect_output(
        "--man",
        (const char *const[]){
            ".TH \"GPURT-TRY\" 1 ", ".SH NAME\ngpurt\\-try \\- try options\n",
            ".SS \"What to do\"\n.TP\n\\fB\\-k\\fR, \\fB\\-\\-keep\\-going\\fR\ngo on\n",
            "\\fB\\-\\-timeout\\fR \\fIS\\fR\nhow long.\n\\&.It\\(aqs a \\e trap",
            ".SH \"EXAMPLES\"\nTwo of them:\n.PP\n.nf\n  first \\-\\- one\n", NULL});
}

/* Two verbs, and whatever else the first operand is. */
static uint32_t verb_find(const void *values, char *const *operands, int count)
{
    (void)values;
    return count == 0                         ? 0
           : strcmp(operands[0], "sow") == 0  ? 1
           : strcmp(operands[0], "reap") == 0 ? 2
                                              : 0;
}

/* An option that the verb does not heed would be lost without a word. */
static void test_unheeded(void)
{
    static const char *const names[] = {"sow", "reap", "thresh", "store"};
    static const gpurt_option_uses_t uses = {names, verb_find};
    static gpurt_option_t verbs[sizeof rows / sizeof rows[0]];

    memcpy(verbs, rows, sizeof rows);
    verbs[0].uses = 1 << 0; /* -k, --keep-going */
    verbs[4].uses = 1 << 1; /* -n, --seeds */
    verbs[5].uses = 1 << 1 | 1 << 2 | 1 << 3;
    program.options = verbs;
    program.uses = &uses;
    expect_values("-k sow", V(.keep = true), "sow");
    expect_values("-q -k sow", V(.keep = true, .quiet = true), "sow");
    expect_values("-k dance", V(.keep = true), "dance");
    expect_values("-k", V(.keep = true), "");
    expect_values("reap -n 3 -oX", V(.seeds = 3, .output = "X"), "reap");
    expect_refusal("-k reap", "-k is for sow only\n");
    expect_refusal("reap --keep", "--keep-going is for sow only\n");
    expect_refusal("--seeds=2 sow -n 3", "-n is for reap only\n");
    expect_refusal("sow -o X", "-o is for reap, thresh or store only\n");
    verbs[5].uses = 1 << 1 | 1 << 3;
    expect_refusal("sow --out X", "--output is for reap or store only\n");
    program.options = rows;
    program.uses = NULL;
}

static void test_full_disk(void)
{
    struct values values = {0};
    char *argv[] = {(char *)"gpurt-try", (char *)"--help", NULL};
    int operands;

    program.out = fopen("/dev/full", "w");
    program.err = fopen("/dev/null", "w");
    if (program.out && program.err)
        check(gpurt_option_parse(&program, 2, argv, &values, &operands) == 125, "--help",
              "a lost help text passes for a printed one");
    if (program.out)
        fclose(program.out);
    if (program.err)
        fclose(program.err);
}

int main(void)
{
    test_spellings();
    test_operands();
    test_mistakes();
    test_help();
    test_man();
    test_unheeded();
    test_full_disk();
    return 0;
}
