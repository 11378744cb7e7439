import {
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  FramingError,
  ProtocolError,
  TransportError,
} from "../../protocol/errors.ts";
import { Logger } from "../../runtime/log.ts";
import {
  ServerConnection,
  type ServerConnectionOptions,
} from "../../runtime/server_connection.ts";
import { badServer, isRunning, mayRun } from "../_clients.ts";

interface Peer {
  connection: ServerConnection;
  /** Sends the next request, and has the server write messages. */
  send: (...messages: object[]) => Promise<unknown>;
  seen: string[];
  log: () => string;
}

/** Use a connection to a bad server; it is closed, and no process is left. */
async function withPeer(
  options: Partial<ServerConnectionOptions> & { behaviour?: string },
  use: (peer: Peer) => unknown,
): Promise<void> {
  const { command, mark } = badServer(options.behaviour ?? "good");
  const seen: string[] = [];
  let log = "";
  const connection = new ServerConnection(command, {
    framing: "newline",
    closeTimeoutMs: 2_000,
    onStderr: () => {},
    onMessage: (direction, message) =>
      seen.push(`${direction} ${JSON.stringify(message)}`),
    log: new Logger("test", { level: "DEBUG", write: (text) => log += text }),
    ...options,
  });
  let id = 0;
  const send = (...messages: object[]): Promise<unknown> =>
    connection.request({
      jsonrpc: "2.0",
      id: id++,
      method: "tools/call",
      params: { arguments: { messages } },
    }, { timeoutMs: 5_000, cancellable: true });
  try {
    await use({ connection, send, seen, log: () => log });
  } finally {
    await connection.close();
    assertEquals(await isRunning(mark), false, "a process is left");
  }
}

function test(name: string, use: () => Promise<unknown>): void {
  Deno.test(name, { ignore: !mayRun }, async () => void await use());
}

const OK = { id: "ID", result: "ok" };

test("ServerConnection.request() gives the result, whatever it is", () =>
  withPeer({}, async ({ send }) => {
    for (const result of ["ok", 0, false, null, [], {}]) {
      assertEquals(await send({ id: "ID", result }), result);
    }
  }));

test("ServerConnection.request() shows each message once, in order", () =>
  withPeer({}, async ({ send, seen }) => {
    await send({ id: 7, method: "ping" }, { method: "note" }, OK);
    assertEquals(seen.slice(1), [
      '< {"jsonrpc":"2.0","id":7,"method":"ping"}',
      '> {"jsonrpc":"2.0","id":7,"result":{}}',
      '< {"jsonrpc":"2.0","method":"note"}',
      '< {"jsonrpc":"2.0","id":0,"result":"ok"}',
    ]);
  }));

test("ServerConnection goes on when onMessage throws", () => {
  const onMessage = (): void => {
    throw new Error("of the hook");
  };
  return withPeer({ onMessage }, async ({ send, log }) => {
    assertEquals(await send(OK), "ok");
    const line = "ERROR test: onMessage failed: of the hook\n";
    assertEquals(log(), line.repeat(2));
  });
});

test("ServerConnection answers no request when answersRequests is false", () =>
  withPeer({}, async ({ connection, send, seen, log }) => {
    connection.answersRequests = false;
    await send({ id: 7, method: "ping\u001b" }, OK);
    assertEquals(seen.filter((one) => one.startsWith(">")).length, 1);
    assertStringIncludes(
      log(),
      'WARNING test: Ignored the server\'s request "ping\\u001b"',
    );
  }));

test("ServerConnection drops the answer to a request that failed before it", () =>
  withPeer({}, async ({ send, log }) => {
    const failed = send({ ...OK, id: 99 }, OK);
    await assertRejects(() => failed, ProtocolError, "id is 99, expected 0");
    assertEquals(await send(OK), "ok");
    assertEquals(log(), "");
  }));

test("ServerConnection warns of an answer when no request is in flight", () => {
  const last = Promise.withResolvers<void>();
  const onMessage = (_: string, message: { method?: string }): void => {
    if (message.method === "last") last.resolve();
  };
  return withPeer({ onMessage }, async ({ send, log }) => {
    assertEquals(await send(OK, OK, { method: "last" }), "ok");
    await last.promise;
    assertStringIncludes(
      log(),
      "Ignored an answer with id 0: no request is in",
    );
  });
});

test("ServerConnection warns of what is no message, and goes on", () =>
  withPeer({}, async ({ send, log }) => {
    assertEquals(await send({ method: 5 }, OK), "ok");
    assertStringIncludes(log(), "Skipped what is no message: ");
  }));

test("ServerConnection.request() rejects in time, with a cancel if it may", async () => {
  for (const cancellable of [true, false]) {
    await withPeer({}, async ({ connection, seen }) => {
      const request = {
        jsonrpc: "2.0" as const,
        id: "a",
        method: "tools/call",
        params: { arguments: { messages: [] } },
      };
      await assertRejects(
        () => connection.request(request, { timeoutMs: 60, cancellable }),
        TransportError,
        "no answer came within 60 ms",
      );
      const cancel = seen.filter((one) => one.includes("cancelled"));
      assertEquals(cancel.length, cancellable ? 1 : 0);
    });
  }
});

test("ServerConnection.request() rejects with the reason of its signal", () =>
  withPeer({}, async ({ connection, send, seen }) => {
    const request = { jsonrpc: "2.0" as const, id: "a", method: "none" };
    const options = { timeoutMs: 5_000, cancellable: true };
    const signal = AbortSignal.abort(new Error("before"));
    await assertRejects(
      () => connection.request(request, { ...options, signal }),
      Error,
      "before",
    );
    assertEquals(seen, []);
    const controller = new AbortController();
    const waits = connection.request(request, {
      ...options,
      signal: controller.signal,
    });
    controller.abort(new Error("during"));
    await assertRejects(() => waits, Error, "during");
    assertEquals(await send(OK), "ok");
  }));

test("ServerConnection.request() cancels nothing once its answer has come", () =>
  withPeer({}, async ({ connection, send, seen }) => {
    assertEquals(await send(OK), "ok");
    const controller = new AbortController();
    const request = {
      jsonrpc: "2.0" as const,
      id: "a",
      method: "tools/call",
      params: { arguments: { messages: [OK] } },
    };
    const timeoutMs = 300;
    const { signal } = controller;
    await connection.request(request, { timeoutMs, signal, cancellable: true });
    controller.abort();
    await new Promise((resolve) => setTimeout(resolve, timeoutMs + 50));
    assertEquals(seen.filter((one) => one.includes("cancelled")), []);
  }));

test("ServerConnection.request() rejects at once when the server is gone", () =>
  withPeer({ behaviour: "exit-in-call" }, async ({ connection, send }) => {
    assertEquals(connection.lost, false);
    await assertRejects(() => send(), TransportError, "exited with code 5");
    assertEquals(connection.lost, true);
    await assertRejects(() => send(), TransportError, "exited with code 5");
  }));

test("ServerConnection.request() has the cause when the stream is not framed", () =>
  withPeer({
    behaviour: "exit-in-frame",
    framing: "content-length",
  }, async ({ send }) => {
    const error = await assertRejects(() => send(), TransportError);
    assertInstanceOf(error.cause, FramingError);
    assertStringIncludes(error.message, "exited with code 6");
    assertStringIncludes(error.message, "stream ended after");
  }));

test("ServerConnection.request() rejects what JSON cannot hold, nothing shown", () =>
  withPeer({}, async ({ connection, send, seen }) => {
    const request = {
      jsonrpc: "2.0" as const,
      id: "a",
      method: "m",
      params: { n: 1n },
    };
    await assertRejects(
      () => connection.request(request, { timeoutMs: 500, cancellable: true }),
      TypeError,
    );
    assertEquals(seen, []);
    assertEquals(await send(OK), "ok");
  }));

test("ServerConnection.notify() sends params only if there are any", () =>
  withPeer({}, ({ connection, seen }) => {
    connection.notify("a");
    connection.notify("b", { c: 1 });
    assertEquals(seen, [
      '> {"jsonrpc":"2.0","method":"a"}',
      '> {"jsonrpc":"2.0","method":"b","params":{"c":1}}',
    ]);
  }));

test("ServerConnection.close() rejects what waits, and may come twice", () =>
  withPeer({}, async ({ connection, send }) => {
    const waits = assertRejects(
      () => send(),
      TransportError,
      "client is closed",
    );
    await Promise.all([connection.close(), connection.close()]);
    await waits;
    assertEquals(connection.lost, true);
  }));

test("ServerConnection throws when the program cannot be started", () => {
  const log = new Logger("test", { write: () => {} });
  const options = { framing: "newline" as const, closeTimeoutMs: 1, log };
  assertThrows(
    () => new ServerConnection(["no-such-program"], options),
    TransportError,
    'Cannot start "no-such-program"',
  );
  return Promise.resolve();
});
