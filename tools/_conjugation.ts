/**
 * The verbs: normalize a word, find the form of a cell and the cells of a form.
 *
 * A cell is one verb in one tense and person; the table has a form for each, in
 * English and in Spanish. What to say where a word is not in it is left to the
 * tools.
 *
 * @module
 */

import table from "./conjugation_table.json" with { type: "json" };

/** The tenses, earliest first: where a form stands for several cells, this is their order. */
export const TENSES = [
  "infinitive",
  "present_simple",
  "past_simple",
  "past_participle",
  "simple_future",
] as const;

/** One of {@linkcode TENSES}. */
export type Tense = typeof TENSES[number];

/** The persons, in the order of the table's arrays. */
export const PERSONS = ["1sg", "2sg", "3sg"] as const;

/** One of {@linkcode PERSONS}. */
export type Person = typeof PERSONS[number];

/** The infinitives in scope, in the order of the table. */
export const VERBS: readonly string[] = Object.keys(table);

/** The infinitives in scope, quoted, for a message or a description. */
export const VERB_LIST: string = VERBS.map((verb) => JSON.stringify(verb)).join(
  ", ",
);

/** A place in the table. */
export interface Cell {
  /** One of {@linkcode VERBS}. */
  verb: string;
  /** The tense. */
  tense: Tense;
  /** The person. */
  person: Person;
}

/** What the table has of one verb: for each tense three forms, in the order of {@linkcode PERSONS}. */
interface Verb {
  regular: boolean;
  english_forms: Readonly<Record<Tense, readonly string[]>>;
  spanish_forms: Readonly<Record<Tense, readonly string[]>>;
}

const verbs: ReadonlyMap<string, Verb> = new Map(Object.entries(table));

/** A form that could be several persons is taken for the first of these. */
const PERSONS_BY_LIKELIHOOD = ["3sg", "1sg", "2sg"] as const;

/** More than any form or subject has, with room to spare. */
const MAX_WORD_CHARACTERS = 64;

/**
 * Bring a word into the spelling of the table: trimmed, NFC, lower case.
 *
 * @param word What the caller wrote.
 * @returns The word. One that is too long to be any form is only trimmed.
 */
export function normalizeWord(word: string): string {
  const trimmed = word.trim();
  // Normalizing takes quadratic time on a run of combining marks: a minute for
  // a megabyte of them. No word of that length is in the table.
  if (trimmed.length > MAX_WORD_CHARACTERS) return trimmed;
  return trimmed.normalize("NFC").toLowerCase();
}

/**
 * Find the verb that a word names.
 *
 * @param word An infinitive, in any spelling.
 * @returns The verb as {@linkcode VERBS} has it, `undefined` where it is out of
 * scope.
 */
export function findVerb(word: string): string | undefined {
  const verb = normalizeWord(word);
  return verbs.has(verb) ? verb : undefined;
}

/**
 * Tell whether a verb is regular in English.
 *
 * @param verb One of {@linkcode VERBS}.
 * @returns Whether it is in the table as a regular verb.
 */
export function isRegular(verb: string): boolean {
  return verbs.get(verb)?.regular === true;
}

/**
 * Find the English form of a cell.
 *
 * @param cell The cell.
 * @returns The form.
 * @throws {RangeError} If there is no such cell.
 */
export function formOf(cell: Cell): string {
  return pick(verbs.get(cell.verb)?.english_forms, cell);
}

/**
 * Find the Spanish form of a cell.
 *
 * @param cell The cell.
 * @returns The form.
 * @throws {RangeError} If there is no such cell.
 */
export function spanishOf(cell: Cell): string {
  return pick(verbs.get(cell.verb)?.spanish_forms, cell);
}

/**
 * Find every cell that an English form can stand for.
 *
 * The first call builds the index.
 *
 * @param form A form, in any spelling.
 * @returns The cells: the earliest tense first, within a tense 3sg, 1sg, 2sg.
 * Empty where the form is unknown.
 */
export function readingsOf(form: string): readonly Cell[] {
  cellsByForm ??= indexForms();
  return cellsByForm.get(normalizeWord(form)) ?? [];
}

let cellsByForm: ReadonlyMap<string, readonly Cell[]> | undefined;

function indexForms(): Map<string, Cell[]> {
  const index = new Map<string, Cell[]>();
  for (const tense of TENSES) {
    for (const person of PERSONS_BY_LIKELIHOOD) {
      for (const verb of VERBS) {
        const cell = { verb, tense, person };
        const form = formOf(cell);
        const cells = index.get(form);
        if (cells === undefined) index.set(form, [cell]);
        else cells.push(cell);
      }
    }
  }
  return index;
}

function pick(forms: Verb["english_forms"] | undefined, cell: Cell): string {
  const form = forms?.[cell.tense]?.[PERSONS.indexOf(cell.person)];
  if (form === undefined) {
    throw new RangeError(
      `Cannot find form: the table has no cell ${JSON.stringify(cell)}`,
    );
  }
  return form;
}
