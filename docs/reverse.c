/* Answers the cases of sequence_reverse: an example for docs/conformance-suite.md. It needs a C compiler, nothing else.

       cc -O1 -o reverse reverse.c
       ./reverse cases.jsonl results.jsonl

   Numbers are only moved, so they stay the text that they are in the file, and any dtype will do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- JSON: a tree over the text of a line ------------------------------------------------------------------------ */

typedef struct Node {
    const char *text, *end, *key;           /* the value as it stands in the line; its key in an object */
    struct Node *child, *next;              /* the first value in it, and the one after it */
} Node;

static void *need(size_t size) {
    void *memory = calloc(size ? size : 1, 1);
    if (!memory) exit(2);
    return memory;
}

static const char *after_string(const char *p) {
    for (p++; *p != '"'; p++) p += *p == '\\';
    return p + 1;
}

static Node *parse(const char *p) {
    Node *node = need(sizeof *node), **place = &node->child;
    node->text = p;
    if (*p == '{' || *p == '[') {
        char open = *p++;
        while (*p != '}' && *p != ']') {
            const char *key = p;
            if (open == '{') for (p = after_string(p); *p == ':' || *p == ' ';) p++;
            *place = parse(p);
            (*place)->key = key;
            for (p = (*place)->end; *p == ',' || *p == ' ';) p++;
            place = &(*place)->next;
        }
        p++;
    } else if (*p == '"') {
        p = after_string(p);
    } else {
        p += strcspn(p, ",]}\n ");
    }
    node->end = p;
    return node;
}

static void release(Node *node) {
    for (Node *next; node; node = next) {
        next = node->next;
        release(node->child);
        free(node);
    }
}

static Node *get(Node *object, const char *key) {
    size_t size = strlen(key);
    for (Node *one = object->child; one; one = one->next)
        if (!strncmp(one->key + 1, key, size) && one->key[size + 1] == '"') return one;
    return NULL;
}

static int is(Node *node, const char *text) {
    return (size_t)(node->end - node->text) == strlen(text) && !strncmp(node->text, text, strlen(text));
}

static long count(Node *list) {
    long n = 0;
    for (Node *one = list->child; one; one = one->next) n++;
    return n;
}

/* -- the operator ------------------------------------------------------------------------------------------------ */

static long *integers(Node *list) {
    long *found = need(count(list) * sizeof *found), n = 0;
    for (Node *one = list->child; one; one = one->next) found[n++] = strtol(one->text, NULL, 10);
    return found;
}

/* The elements of a level in reverse order in each of its sequences; then the offsets of finer levels, and the rows, follow.
   Writes the offsets of the result, and returns the order of its rows. */
static long *reverse(Node *x, long level, long **offsets_of_result, long *sizes) {
    Node *lod = get(x, "lod");
    long depth = count(lod), *order = NULL, n = 0, k = 0;
    if (level < 0) level += depth;
    for (Node *one = lod->child; one; one = one->next, k++) {
        long *offsets = integers(one), n_seqs = count(one) - 1;
        sizes[k] = n_seqs + 1;
        offsets_of_result[k] = offsets;
        if (k < level) continue;
        if (k == level) {
            n = offsets[n_seqs];
            order = need(n * sizeof *order);
            for (long s = 0; s < n_seqs; s++)
                for (long i = offsets[s]; i < offsets[s + 1]; i++) order[i] = offsets[s] + offsets[s + 1] - 1 - i;
            continue;
        }
        long *moved = need((n + 1) * sizeof *moved), *finer = need(offsets[n] * sizeof *finer);
        for (long s = 0; s < n; s++) {
            moved[s + 1] = moved[s];
            for (long i = offsets[order[s]]; i < offsets[order[s] + 1]; i++) finer[moved[s + 1]++] = i;
        }
        n = offsets[n];
        free(order);
        free(offsets);
        order = finer;
        offsets_of_result[k] = moved;
    }
    return order;
}

static void print_text(FILE *out, const char *name, Node *node) {
    fprintf(out, "\"%s\": %.*s, ", name, (int)(node->end - node->text), node->text);
}

/* A tensor like x, with the rows of `values` in another order. */
static void print_rows(FILE *out, Node *x, Node *values, long *order, long **offsets, long *sizes) {
    long depth = count(get(x, "lod")), n_rows = strtol(get(x, "shape")->child->text, NULL, 10), n = count(values);
    long width = n_rows ? n / n_rows : 0;
    Node **numbers = need(n * sizeof *numbers), *one = values->child;
    for (long i = 0; i < n; i++, one = one->next) numbers[i] = one;
    fputs("{\"kind\": \"ragged\", ", out);
    print_text(out, "dtype", get(x, "dtype"));
    print_text(out, "shape", get(x, "shape"));
    fputs("\"lod\": [", out);
    for (long k = 0; k < depth; k++)
        for (long i = 0; i < sizes[k]; i++)
            fprintf(out, "%s%ld%s", i ? ", " : k ? ", [" : "[", offsets[k][i], i + 1 < sizes[k] ? "" : "]");
    fputs("], \"values\": [", out);
    for (long i = 0; i < n; i++) {
        Node *number = numbers[order[i / width] * width + i % width];
        fprintf(out, "%s%.*s", i ? ", " : "", (int)(number->end - number->text), number->text);
    }
    fputs("]}", out);
    free(numbers);
}

static void answer(FILE *out, Node *given) {
    Node *arguments = get(given, "arguments"), *x = get(arguments, "x");
    Node *cotangent = get(given, "cotangents")->child;
    long depth = count(get(x, "lod")), **offsets = need(depth * sizeof *offsets), *sizes = need(depth * sizeof *sizes);
    long *order = reverse(x, strtol(get(arguments, "level")->text, NULL, 10), offsets, sizes);
    fputs("\"results\": [", out);
    print_rows(out, x, get(x, "values"), order, offsets, sizes);
    fputs("], \"gradients\": {\"x\": ", out);
    if (is(cotangent, "null")) {
        fputs("null", out);
    } else {                                /* the rows of the cotangent go back to where those of x came from */
        long n = sizes[depth - 1] ? offsets[depth - 1][sizes[depth - 1] - 1] : 0, *back = need(n * sizeof *back);
        long **own = need(depth * sizeof *own), k = 0;
        for (Node *one = get(x, "lod")->child; one; one = one->next) own[k++] = integers(one);
        for (long i = 0; i < n; i++) back[order[i]] = i;
        print_rows(out, x, get(cotangent, "values"), back, own, sizes);
        while (k) free(own[--k]);
        free(own);
        free(back);
    }
    fputs("}", out);
    for (long k = 0; k < depth; k++) free(offsets[k]);
    free(offsets);
    free(sizes);
    free(order);
}

/* -- the file of cases, line by line ------------------------------------------------------------------------------ */

int main(int argc, char **argv) {
    FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL, *out = argc == 3 ? fopen(argv[2], "wb") : NULL;
    char *line = NULL;
    size_t room = 0, used = 0;
    if (!in || !out) return fputs("usage: reverse CASES.jsonl RESULTS.jsonl\n", stderr), 2;
    fputs("{\"format\": \"lodcore results 1\"}\n", out);
    for (int byte, first = 1; (byte = fgetc(in)) != EOF;) {
        if (used + 2 > room && !(line = realloc(line, room = 2 * used + 4096))) return 2;
        line[used++] = (char)byte;
        if (byte != '\n') continue;
        line[used] = 0;
        used = 0;
        if (first) { first = 0; continue; } /* the format of the file, and its seed */
        Node *given = parse(line);
        fprintf(out, "{\"case\": %ld, ", strtol(get(given, "case")->text, NULL, 10));
        if (is(get(given, "operator"), "\"sequence_reverse\"")) answer(out, given);
        else fputs("\"skipped\": \"not implemented\"", out);
        fputs("}\n", out);
        fflush(out);                        /* so that a crash tells which case it was */
        release(given);
    }
    free(line);
    return fclose(in) | fclose(out) ? 1 : 0;
}
