import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertLess,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { toText } from "@std/streams";
import {
  DEFAULT_MAX_MESSAGE_BYTES,
  encodeMessage,
  type Framing,
  MessageReader,
  MessageWriter,
  readMessage,
  writeMessage,
} from "../framing.ts";
import { ProtocolError, TransportError } from "../protocol/errors.ts";
import { chunked } from "./_fixtures.ts";
import { FRAMES, FRAMING_CASES, utf8 } from "./_framing_cases.ts";
import { expectedOutcomes, outcomesOf } from "./_reference_reader.ts";

const FRAMINGS: Framing[] = ["content-length", "newline"];

/** The bytes of a string that has a character for each. */
function bytesOf(binary: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** A stream of chunks that can go on, stay silent, or throw. */
function streamOf(
  chunks: Iterable<string> | AsyncIterable<string>,
): ReadableStream<Uint8Array> {
  return ReadableStream.from(chunks).pipeThrough(
    new TransformStream<string, Uint8Array>({
      transform: (chunk, controller) => controller.enqueue(bytesOf(chunk)),
    }, { highWaterMark: 0 }, { highWaterMark: 0 }),
  );
}
