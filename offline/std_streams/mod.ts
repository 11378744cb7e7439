/**
 * Offline stand-in for `jsr:@std/streams`, for machines that cannot reach JSR.
 *
 * It is not the real package: it has only what this project's tests use, with
 * the same names, signatures and behaviour. Remove the `links` line in
 * `deno.json` to test with the real one.
 *
 * @module
 */

/** All the bytes of a stream, as a `Blob`. */
export async function toBlob(
  stream: ReadableStream<Uint8Array>,
): Promise<Blob> {
  return await new Response(stream).blob();
}

/** All the bytes of a stream, as an `ArrayBuffer`. */
export async function toArrayBuffer(
  stream: ReadableStream<Uint8Array>,
): Promise<ArrayBuffer> {
  return await new Response(stream).arrayBuffer();
}

/** All the text of a stream of strings or of UTF-8 bytes. */
export async function toText(
  stream: ReadableStream<string> | ReadableStream<Uint8Array>,
): Promise<string> {
  const decoder = new TextDecoder();
  const reader: ReadableStreamDefaultReader<string | Uint8Array> = stream
    .getReader();
  let text = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += typeof value === "string"
      ? value
      : decoder.decode(value, { stream: true });
  }
}

/** The value of a stream of JSON text. */
export async function toJson(
  stream: ReadableStream<string> | ReadableStream<Uint8Array>,
): Promise<unknown> {
  return JSON.parse(await toText(stream));
}

/** Options for {@linkcode TextLineStream}. */
export interface TextLineStreamOptions {
  /** Whether a lone `\r` ends a line too. Default: `false`. */
  allowCR?: boolean;
}

/** Divides text into lines, ended by `\n` or `\r\n`. */
export class TextLineStream extends TransformStream<string, string> {
  constructor(options: TextLineStreamOptions = {}) {
    // A `\r` at the very end may be half of a `\r\n`: it waits for more.
    const ending = options.allowCR ? /\r?\n|\r(?!$)/ : /\r?\n/;
    let rest = "";
    super({
      transform(chunk, controller): void {
        const lines = (rest + chunk).split(ending);
        rest = lines.pop() ?? "";
        for (const line of lines) controller.enqueue(line);
      },
      flush(controller): void {
        if (rest === "") return;
        controller.enqueue(options.allowCR ? rest.replace(/\r$/, "") : rest);
      },
    });
  }
}

/** Merges streams into one, each chunk as soon as it comes. */
export function mergeReadableStreams<T>(
  ...streams: ReadableStream<T>[]
): ReadableStream<T> {
  return new ReadableStream<T>({
    start(controller): void {
      async function pump(stream: ReadableStream<T>): Promise<void> {
        for await (const chunk of stream) controller.enqueue(chunk);
      }
      Promise.all(streams.map(pump))
        .then(() => controller.close())
        .catch((error) => controller.error(error));
    },
  });
}

/** Joins streams end to end, in order; cancelling it cancels all of them. */
export function concatReadableStreams<T>(
  ...streams: ReadableStream<T>[]
): ReadableStream<T> {
  let index = 0;
  return new ReadableStream<T>({
    async pull(controller): Promise<void> {
      for (; index < streams.length; index++) {
        const reader = streams[index]?.getReader();
        const result = await reader?.read();
        reader?.releaseLock();
        if (result?.done === false) return controller.enqueue(result.value);
      }
      controller.close();
    },
    async cancel(reason): Promise<void> {
      await Promise.allSettled(streams.map((stream) => stream.cancel(reason)));
    },
  });
}
