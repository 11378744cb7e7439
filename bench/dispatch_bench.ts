/**
 * What answering costs without a stream: the methods, the validation of
 * arguments, the look-ups of each tool.
 *
 * @module
 */

import { compileSchema } from "../protocol/_schema.ts";
import { dispatch } from "../server.ts";
import type { Session } from "../server.ts";
import {
  checkSubjectVerbAgreement,
  conjugate,
  lookupIrregularVerb,
  lookupSpanish,
} from "../tools/mod.ts";

const EAT = { verb: "eat", tense: "past_simple", person: "3sg" };
const WRONG = { verb: 1, tense: "past", person: "3sg" };
const ANY = { type: "object" };

for (const protocolVersion of ["2024-11-05", "2025-11-25"]) {
  benchMethods(protocolVersion);
}
benchValidation();
benchTools();

function benchMethods(protocolVersion: string): void {
  const group = `methods, ${protocolVersion}`;
  const session: Session = {};
  const handshake = {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: "bench", version: "0.1" },
  };
  dispatch(request("initialize", handshake), session);
  dispatch(
    { jsonrpc: "2.0", method: "notifications/initialized" },
    session,
  );
  const cases: [string, object][] = [
    ["ping", request("ping")],
    ["tools/list", request("tools/list")],
    [
      "tools/call",
      request("tools/call", { name: "conjugate", arguments: EAT }),
    ],
    [
      "tools/call with wrong arguments",
      request("tools/call", { name: "conjugate", arguments: WRONG }),
    ],
    ["an unknown method", request("nothing")],
  ];
  for (const [title, message] of cases) {
    Deno.bench(
      `dispatch() on ${title}, ${protocolVersion}`,
      { group, baseline: title === "ping" },
      () => {
        dispatch(message, session);
      },
    );
  }
}

function benchValidation(): void {
  const group = "validation";
  const validateAny = compileSchema(ANY, "2020-12");
  const validate = compileSchema(conjugate.inputSchema, "2020-12");
  Deno.bench(
    "validate() on the schema of any object",
    { group, baseline: true },
    () => void validateAny(EAT),
  );
  Deno.bench("validate() on arguments of conjugate", { group }, () => {
    validate(EAT);
  });
  Deno.bench("validate() on wrong arguments of conjugate", { group }, () => {
    validate(WRONG);
  });
  Deno.bench("compileSchema() on a schema it has seen", { group }, () => {
    compileSchema(conjugate.inputSchema, "2020-12");
  });
  Deno.bench("compileSchema() on a new schema", { group }, () => {
    compileSchema(structuredClone(conjugate.inputSchema), "2020-12");
  });
}

function benchTools(): void {
  const group = "tools";
  Deno.bench("conjugate() on eat", { group, baseline: true }, () => {
    conjugate.fn(EAT);
  });
  Deno.bench("lookupIrregularVerb() on go", { group }, () => {
    lookupIrregularVerb.fn({ verb: "go" });
  });
  Deno.bench("lookupSpanish() on ate", { group }, () => {
    lookupSpanish.fn({ english_form: "ate" });
  });
  Deno.bench("checkSubjectVerbAgreement() on he go", { group }, () => {
    checkSubjectVerbAgreement.fn({ subject: "he", verb_form: "go" });
  });
}

function request(method: string, params?: object): object {
  return {
    jsonrpc: "2.0",
    id: 1,
    method,
    ...(params === undefined ? {} : { params }),
  };
}
