import { assertThrows } from "@std/assert";
import { FRAMINGS } from "../../protocol/_framers.ts";
import { PROTOCOL_VERSIONS } from "../../protocol/revisions.ts";
import {
  type CallOptions,
  checkCallOptions,
  checkClientOptions,
  MAX_TIMEOUT_MS,
  type MCPClientOptions,
} from "../../runtime/client_options.ts";

const TAKEN: Record<string, unknown>[] = [
  {},
  {
    protocolVersion: undefined,
    framing: undefined,
    maxMessageBytes: undefined,
  },
  { protocolVersion: "auto" },
  ...PROTOCOL_VERSIONS.map((protocolVersion) => ({ protocolVersion })),
  ...FRAMINGS.map((framing) => ({ framing })),
  { requestTimeoutMs: 1, closeTimeoutMs: MAX_TIMEOUT_MS, maxMessageBytes: 1 },
  { requestTimeoutMs: 0.5 + 1 },
];

for (const options of TAKEN) {
  Deno.test(`checkClientOptions() takes ${JSON.stringify(options)}`, () => {
    checkClientOptions(options as MCPClientOptions);
  });
}

const REFUSED: [options: Record<string, unknown>, says: string][] = [
  [
    { protocolVersion: "1" },
    'protocolVersion: value is "1", expected one of 2',
  ],
  [{ protocolVersion: null }, "protocolVersion: value is null"],
  [{ framing: "toString" }, 'framing: value is "toString"'],
  [{ logLevel: "debug" }, 'logLevel: value is "debug", expected one of DEBUG'],
  [{ requestTimeoutMs: "5" }, 'requestTimeoutMs: value is "5", expected 1 to'],
  [{ requestTimeoutMs: 0.5 }, "requestTimeoutMs: value is 0.5, expected 1 to"],
  [{ closeTimeoutMs: MAX_TIMEOUT_MS + 1 }, "to 2147483647 milliseconds"],
  [{ maxMessageBytes: -1 }, "maxMessageBytes: value is -1, expected a whole"],
  [{ maxMessageBytes: "5" }, 'maxMessageBytes: value is "5"'],
];

for (const [options, says] of REFUSED) {
  Deno.test(`checkClientOptions() refuses ${JSON.stringify(options)}`, () => {
    const check = (): void => checkClientOptions(options as MCPClientOptions);
    assertThrows(check, RangeError, says);
  });
}

for (const timeoutMs of [0, -1, NaN, Infinity, MAX_TIMEOUT_MS + 1]) {
  Deno.test(`checkCallOptions() refuses a timeoutMs of ${timeoutMs}`, () => {
    const options: CallOptions = { timeoutMs };
    const says = `Cannot use option timeoutMs: value is ${timeoutMs}, expected`;
    assertThrows(() => checkCallOptions(options), RangeError, says);
  });
}

Deno.test("checkCallOptions() takes no time limit, and any within range", () => {
  for (const timeoutMs of [undefined, 1, MAX_TIMEOUT_MS]) {
    checkCallOptions({ timeoutMs });
  }
});
