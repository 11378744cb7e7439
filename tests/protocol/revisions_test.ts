import { assertEquals, assertStrictEquals } from "@std/assert";
import {
  newestHandshake,
  newestStateless,
  oldestRevision,
  PROTOCOL_VERSIONS,
  type Revision,
  revisions,
  statelessVersions,
} from "../../protocol/revisions.ts";

const ANNOTATIONS = ["annotations"];
const WITH_TITLE = ["annotations", "title", "outputSchema"];
const WITH_ICONS = [...WITH_TITLE, "icons"];

/** The first five revisions, as their specifications have them, a column a line. */
const TABLE: Record<Exclude<keyof Revision, "methods">, unknown[]> = {
  protocolVersion: [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
  ],
  opening: ["handshake", "handshake", "handshake", "handshake", "request"],
  batches: [true, true, false, false, false],
  toolFields: [[], ANNOTATIONS, WITH_TITLE, WITH_ICONS, WITH_ICONS],
  structuredContent: [false, false, true, true, true],
  invalidArguments: ["error", "error", "error", "result", "result"],
  dialect: ["7", "7", "7", "2020-12", "2020-12"],
};

Deno.test("PROTOCOL_VERSIONS names the revisions, oldest first", () => {
  assertEquals([...PROTOCOL_VERSIONS], PROTOCOL_VERSIONS.toSorted());
});

Deno.test("revisions has a row for each of PROTOCOL_VERSIONS, in order", () => {
  assertEquals([...revisions.keys()], [...PROTOCOL_VERSIONS]);
});

for (const [column, values] of Object.entries(TABLE)) {
  Deno.test(`revisions says of each revision its ${column}`, () => {
    const rows = [...revisions.values()].slice(0, values.length);
    assertEquals(rows.map((row) => row[column as keyof Revision]), values);
  });
}

Deno.test("revisions lists the methods that are served", () => {
  for (const { opening, methods } of revisions.values()) {
    const own = opening === "handshake"
      ? ["initialize", "ping"]
      : ["server/discover", "subscriptions/listen"];
    assertEquals([...methods], [...own, "tools/list", "tools/call"]);
  }
});

for (const name of ["", "9999-01-01", "constructor", "__proto__"]) {
  Deno.test(`revisions has no row for ${JSON.stringify(name)}`, () => {
    assertEquals(revisions.get(name), undefined);
  });
}

Deno.test("oldestRevision, newestHandshake and newestStateless are what their names say", () => {
  const rows = [...revisions.values()];
  const newest = (by: Revision["opening"]): Revision | undefined =>
    rows.findLast(({ opening }) => opening === by);
  assertStrictEquals(oldestRevision, rows.at(0));
  assertStrictEquals(newestHandshake, newest("handshake"));
  assertStrictEquals(newestStateless, newest("request"));
});

Deno.test("statelessVersions are those that a request may name, oldest first", () => {
  const rows = [...revisions.values()];
  const stateless = rows.filter(({ opening }) => opening === "request");
  assertEquals(
    [...statelessVersions],
    stateless.map(({ protocolVersion }) => protocolVersion),
  );
});
