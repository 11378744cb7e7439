/**
 * The checkout as a code host serves it, `text/plain` from 127.0.0.1: run and
 * imported by URL, from an empty folder without a config, with an empty
 * `DENO_DIR`.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import config from "../deno.json" with { type: "json" };
import { type Ran, run, temporaryFolder } from "./_fixtures.ts";

const ROOT = `${import.meta.dirname}/..`;
const SMOKE = `${ROOT}/experiments/31-mcp-server-smoke`;
const PROBE_LIMIT_MS = 20_000;

const obstacle = await findObstacle();
const ignore = obstacle !== "";
const because = ignore ? ` (ignored: ${obstacle})` : "";

/** One tool that ours are not. */
const OWN_SERVER = `
import { register, serve, ToolError } from "URL/mod.ts";

register({
  name: "divide",
  description: "Divide a by b",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
  fn: ({ a, b }) => {
    if (b === 0) throw new ToolError("Cannot divide by 0");
    return a / b;
  },
});
Deno.exit(await serve());
`;

const OWN_CLIENT = `
import { MCPClient, ToolError } from "URL/mod.ts";

await using client = new MCPClient(
  ["deno", "run", "--quiet", "--no-prompt", "--allow-import=HOST", "server.ts"],
);
await client.initialize();
const tools = await client.listTools();
console.log(tools.map(({ name }) => name).join());
console.log(await client.callTool("divide", { a: 42, b: 2 }));
try {
  await client.callTool("divide", { a: 42, b: 0 });
} catch (error) {
  if (error instanceof ToolError) console.log(error.message);
}
`;

for (const flags of [[], ["--allow-import=HOST"]]) {
  const permissions = flags[0] ?? "no permission";
  Deno.test(
    `server.ts by URL answers the smoke session, with ${permissions}${because}`,
    {
      ignore,
    },
    async () => {
      await using checkout = await serveCheckout();
      const { code, stdout } = await checkout.deno(
        ["run", "--quiet", "--no-prompt", ...flags, "URL/server.ts"],
        await Deno.readFile(`${SMOKE}/input.bin`),
      );
      assertEquals(stdout, await Deno.readTextFile(`${SMOKE}/output.bin`));
      assertEquals(code, 0);
      assertEquals(checkout.missed, []);
      assert(checkout.served.has("/server.ts"));
    },
  );
}

Deno.test(
  `client.ts by URL drives the server.ts beside it, with --allow-run=deno${because}`,
  {
    ignore,
  },
  async () => {
    await using checkout = await serveCheckout();
    const { code, stdout, stderr } = await checkout.deno([
      ...["run", "--quiet", "--no-prompt", "--allow-run=deno", "URL/client.ts"],
      ...["call", "conjugate", "verb=eat", "tense=past_simple", "person=3sg"],
    ]);
    assertEquals([code, stdout], [0, "ate\n"], stderr);
    assert(checkout.served.has("/server.ts"));
  },
);

Deno.test(
  `mod.ts by URL makes a server and its client, with --allow-import and --allow-run=deno${because}`,
  {
    ignore,
  },
  async () => {
    await using checkout = await serveCheckout();
    await checkout.write("server.ts", OWN_SERVER);
    await checkout.write("client.ts", OWN_CLIENT);
    const { code, stdout, stderr } = await checkout.deno([
      ...["run", "--quiet", "--no-prompt", "--allow-run=deno"],
      ...["--allow-import=HOST", "client.ts"],
    ]);
    assertEquals(
      [code, stdout],
      [0, "divide\n21\nCannot divide by 0\n"],
      stderr,
    );
    assert(checkout.served.has("/mod.ts"));
    assertEquals(checkout.missed, []);
  },
);

Deno.test(`mod.ts by URL type-checks where there is no config${because}`, {
  ignore,
}, async () => {
  await using checkout = await serveCheckout();
  await checkout.write("server.ts", OWN_SERVER);
  await checkout.write("client.ts", OWN_CLIENT);
  const { code, stderr } = await checkout.deno(
    ["check", "--quiet", "--allow-import=HOST", "server.ts", "client.ts"],
  );
  assertEquals([code, stderr], [0, ""]);
});

/** Why these tests cannot run here; empty if they can. */
async function findObstacle(): Promise<string> {
  const missing = ([
    { name: "read" },
    { name: "write" },
    { name: "run" },
    { name: "net", host: "127.0.0.1" },
  ] as const).find((descriptor) =>
    Deno.permissions.querySync(descriptor).state !== "granted"
  );
  if (missing !== undefined) return `no --allow-${missing.name}`;
  await using folder = await temporaryFolder();
  const schema = config.imports["@cfworker/json-schema"];
  const { code } = await run(["deno", "cache", schema], {
    cwd: folder.path,
    env: { DENO_DIR: `${folder.path}/deno_dir` },
    limitMs: PROBE_LIMIT_MS,
  });
  return code === 0 ? "" : "npm cannot be reached";
}

/** The checkout on a port of its own, and an empty folder to use it from. */
async function serveCheckout(): Promise<Checkout> {
  await using started = new AsyncDisposableStack();
  const folder = started.use(await temporaryFolder());
  const denoDir = started.use(await temporaryFolder());
  const served = new Set<string>();
  const missed: string[] = [];
  const server = started.use(Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async ({ url }) => {
      const { pathname } = new URL(url);
      try {
        const file = await Deno.readFile(ROOT + pathname);
        served.add(pathname);
        return new Response(file, {
          headers: { "content-type": "text/plain" },
        });
      } catch {
        missed.push(pathname);
        return new Response("not found", { status: 404 });
      }
    },
  ));
  const host = `127.0.0.1:${server.addr.port}`;
  const place = (text: string): string =>
    text.replaceAll("HOST", host).replaceAll("URL", `http://${host}`);
  const all = started.move();
  return {
    served,
    missed,
    write: (name, program) =>
      Deno.writeTextFile(`${folder.path}/${name}`, place(program)),
    deno: (args, input) =>
      run(["deno", ...args.map(place)], {
        cwd: folder.path,
        env: { DENO_DIR: denoDir.path },
        input,
      }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

interface Checkout extends AsyncDisposable {
  /** The paths that were asked for, and found. */
  served: ReadonlySet<string>;
  /** The paths that were asked for in vain. */
  missed: readonly string[];
  /** Write a program into the folder; `URL` and `HOST` are put in. */
  write(name: string, program: string): Promise<void>;
  /** Run Deno in the folder; `URL` and `HOST` are put in. */
  deno(args: string[], input?: Uint8Array<ArrayBuffer>): Promise<Ran>;
}
