import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  type Cell,
  findVerb,
  formOf,
  isRegular,
  normalizeWord,
  PERSONS,
  readingsOf,
  spanishOf,
  TENSES,
  VERB_LIST,
  VERBS,
} from "../../tools/_conjugation.ts";
import table from "../../tools/conjugation_table.json" with { type: "json" };

const CELLS: Cell[] = VERBS.flatMap((verb) =>
  TENSES.flatMap((tense) => PERSONS.map((person) => ({ verb, tense, person })))
);

Deno.test("VERBS holds the twenty verbs in the order of the table", () => {
  assertEquals(
    VERBS.join(" "),
    "work play walk talk listen watch study finish start look want like " +
      "be have do go come see eat write",
  );
});

Deno.test("VERB_LIST quotes every verb", () => {
  assert(VERB_LIST.startsWith('"work", "play", '));
  assert(VERB_LIST.endsWith(', "eat", "write"'));
  assertEquals(VERB_LIST.split(", ").length, 20);
});

Deno.test("conjugation_table.json is made of normalized words in complete rows", () => {
  for (
    const [verb, { english_forms, spanish_forms }] of Object.entries(table)
  ) {
    for (const forms of [english_forms, spanish_forms]) {
      assertEquals(Object.keys(forms), [...TENSES], verb);
      for (const row of Object.values(forms)) {
        assertEquals(row.length, PERSONS.length, verb);
        assertEquals(row.map(normalizeWord), row, verb);
      }
    }
    assertEquals(english_forms.infinitive, [verb, verb, verb]);
  }
});

Deno.test("formOf() and spanishOf() give the table's form for all 300 cells", () => {
  assertEquals(CELLS.length, 300);
  const english: string[] = Object.values(table)
    .flatMap((verb) => Object.values(verb.english_forms).flat());
  const spanish: string[] = Object.values(table)
    .flatMap((verb) => Object.values(verb.spanish_forms).flat());
  assertEquals(CELLS.map(formOf), english);
  assertEquals(CELLS.map(spanishOf), spanish);
});

const SPOT_CHECKS = `
work    simple_future    2sg  will work    trabajarás
play    past_simple      1sg  played       jugué
watch   present_simple   3sg  watches      mira
study   present_simple   3sg  studies      estudia
study   past_participle  1sg  studied      estudiado
finish  present_simple   3sg  finishes     termina
start   past_simple      1sg  started      empecé
start   present_simple   2sg  start        empiezas
want    past_simple      3sg  wanted       quiso
want    simple_future    1sg  will want    querré
like    present_simple   1sg  like         me gusta
like    past_simple      3sg  liked        le gustó
be      infinitive       3sg  be           ser
be      present_simple   1sg  am           soy
be      present_simple   2sg  are          eres
be      present_simple   3sg  is           es
be      past_simple      1sg  was          fui
be      past_simple      2sg  were         fuiste
be      past_simple      3sg  was          fue
be      past_participle  2sg  been         sido
be      simple_future    3sg  will be      será
have    present_simple   3sg  has          tiene
have    simple_future    2sg  will have    tendrás
do      present_simple   3sg  does         hace
do      past_simple      3sg  did          hizo
do      past_participle  3sg  done         hecho
go      present_simple   3sg  goes         va
go      past_simple      3sg  went         fue
go      past_participle  1sg  gone         ido
come    past_simple      2sg  came         viniste
come    past_participle  2sg  come         venido
see     past_simple      3sg  saw          vio
see     past_participle  3sg  seen         visto
eat     past_simple      3sg  ate          comió
eat     simple_future    1sg  will eat     comeré
write   past_participle  3sg  written      escrito
`.trim().split("\n").map((line) => line.split(/ {2,}/));

for (const [verb, tense, person, english, spanish] of SPOT_CHECKS) {
  Deno.test(`formOf() and spanishOf() know ${verb} ${tense} ${person}`, () => {
    const cell = { verb, tense, person } as Cell;
    assertEquals([formOf(cell), spanishOf(cell)], [english, spanish]);
  });
}

Deno.test("formOf() and spanishOf() throw where there is no such cell", () => {
  const cells = [
    { verb: "run", tense: "infinitive", person: "1sg" },
    { verb: "__proto__", tense: "infinitive", person: "1sg" },
    { verb: "eat", tense: "pluperfect", person: "1sg" },
    { verb: "eat", tense: "constructor", person: "1sg" },
    { verb: "eat", tense: "infinitive", person: "1pl" },
  ] as Cell[];
  for (const cell of cells) {
    assertThrows(() => formOf(cell), RangeError, "Cannot find form");
    assertThrows(() => spanishOf(cell), RangeError, "Cannot find form");
  }
});

Deno.test("readingsOf() gives exactly the cells that have the form", () => {
  const key = (cell: Cell): string => JSON.stringify(cell);
  for (const form of new Set(CELLS.map(formOf))) {
    const cells = CELLS.filter((cell) => formOf(cell) === form);
    assertEquals(readingsOf(form).map(key).sort(), cells.map(key).sort(), form);
  }
});

Deno.test("readingsOf() puts the earliest tense first, then 3sg, 1sg, 2sg", () => {
  assertEquals(
    readingsOf("come").map(({ tense, person }) => `${tense} ${person}`),
    [
      "infinitive 3sg",
      "infinitive 1sg",
      "infinitive 2sg",
      "present_simple 1sg",
      "present_simple 2sg",
      "past_participle 3sg",
      "past_participle 1sg",
      "past_participle 2sg",
    ],
  );
});

Deno.test("readingsOf() gives nothing for what is no English form", () => {
  for (
    const word of [
      "",
      "run",
      "comió",
      "to eat",
      "will",
      "__proto__",
      "constructor",
      "toString",
    ]
  ) {
    assertEquals(readingsOf(word), [], word);
  }
});

Deno.test("readingsOf() leaves spaces inside a form alone", () => {
  assertEquals(readingsOf(" Will Eat\n").length, 3);
  assertEquals(readingsOf("will  eat"), []);
});

Deno.test("findVerb() finds a verb in any spelling, and no other word", () => {
  assertEquals(findVerb("eat"), "eat");
  assertEquals(findVerb("\t EAT\u00a0"), "eat");
  for (
    const word of [
      "",
      "run",
      "ate",
      "eats",
      "__proto__",
      "constructor",
      "hasOwnProperty",
    ]
  ) {
    assertEquals(findVerb(word), undefined, word);
  }
});

Deno.test("isRegular() tells the twelve regular verbs from the eight irregular", () => {
  assertEquals(
    VERBS.filter((verb) => !isRegular(verb)),
    ["be", "have", "do", "go", "come", "see", "eat", "write"],
  );
  assertEquals(isRegular("run"), false);
});

Deno.test("normalizeWord() trims, composes and lowers", () => {
  assertEquals(normalizeWord(" \r\n\ufeffATE\t"), "ate");
  assertEquals(normalizeWord("COMIO\u0301"), "comió");
  assertEquals(normalizeWord(""), "");
  assertEquals(normalizeWord("\ud800"), "\ud800");
});

Deno.test("normalizeWord() only trims a word that is too long to be a form", () => {
  assertEquals(normalizeWord(` ${"A".repeat(64)} `), "a".repeat(64));
  assertEquals(normalizeWord(` ${"A".repeat(65)} `), "A".repeat(65));
});

Deno.test("normalizeWord() takes no time over a megabyte of combining marks", () => {
  const marks = "\u0315\u0300".repeat(1 << 19);
  const start = performance.now();
  normalizeWord(`e${marks}`);
  assert(performance.now() - start < 1_000);
});
