/**
 * The house's invariants, held by a test and not by goodwill: which file may
 * import which, which file owns what, how long a file may be, and that each
 * has its twin among the tests.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import config from "../deno.json" with { type: "json" };

const SCHEMA_PACKAGE: string = config.imports["@cfworker/json-schema"];

const OF_A_TOOL = [
  ...["protocol/errors.ts", "protocol/jsonrpc.ts"],
  ...["tools/_conjugation.ts", "tools/registry.ts"],
];

const ROOT = `${import.meta.dirname}/..`;
const sources = granted("read")
  ? await readSources(["", "protocol/", "runtime/", "tools/"])
  : [];

/** A tool is each file of `tools/` that has a name of the wire. */
const TOOLS = sources.map(({ file }) => file)
  .filter((file) => /^tools\/(?!mod\.|registry\.)[a-z]/.test(file));

/** A file, and what it may import. */
type Row = [file: string, mayImport: string[]];

/**
 * Every source file and what it may import, a folder standing for its files. A
 * file imports only from rows above its own, so there is no cycle.
 */
const LAYERS: Row[] = [
  ["protocol/jsonrpc.ts", []],
  ["protocol/revisions.ts", []],
  ["protocol/_meta.ts", []],
  ["protocol/_bytes.ts", []],
  ["protocol/_metaschemas.ts", []],
  ["protocol/_pattern.ts", []],
  ["runtime/flags.ts", []],
  ["runtime/turns.ts", []],
  ["runtime/alarm.ts", []],
  ["runtime/breather.ts", []],
  ["tools/conjugation_table.json", []],

  ["protocol/errors.ts", ["protocol/jsonrpc.ts"]],
  ["runtime/log.ts", ["protocol/jsonrpc.ts"]],
  ["protocol/_failures.ts", ["protocol/jsonrpc.ts"]],
  ["protocol/_plain_schema.ts", ["protocol/jsonrpc.ts"]],
  ["protocol/_schema.ts", ["protocol/", SCHEMA_PACKAGE]],
  ["protocol/_schema_gate.ts", ["protocol/"]],
  ["protocol/_results.ts", ["protocol/"]],
  ["protocol/_framers.ts", ["protocol/"]],
  ["tools/registry.ts", ["protocol/jsonrpc.ts"]],
  ["tools/_conjugation.ts", ["tools/conjugation_table.json"]],

  ["framing.ts", ["protocol/"]],
  ...TOOLS.map((file): Row => [file, OF_A_TOOL]),
  ["tools/mod.ts", ["tools/"]],

  ["runtime/child_process.ts", ["protocol/errors.ts", "runtime/"]],
  ["runtime/server_connection.ts", ["framing.ts", "protocol/", "runtime/"]],
  ["runtime/client_options.ts", ["framing.ts", "protocol/", "runtime/"]],
  ["runtime/terminal.ts", ["framing.ts", "protocol/", "runtime/"]],
  ["client.ts", ["framing.ts", "protocol/", "runtime/"]],

  // The one file of protocol/ that knows the registry: the server's methods.
  ["protocol/_methods.ts", ["protocol/", "tools/registry.ts"]],
  ["protocol/_dispatch.ts", ["protocol/"]],
  ["server.ts", [
    ...["framing.ts", "protocol/", "runtime/flags.ts", "runtime/log.ts"],
    ...["tools/registry.ts", "tools/mod.ts"],
  ]],

  ["mod.ts", [
    ...["client.ts", "framing.ts", "server.ts", "tools/registry.ts"],
    ...["protocol/errors.ts", "protocol/jsonrpc.ts", "protocol/revisions.ts"],
    ...TOOLS,
  ]],
];

/** The parts of `Deno` that have an owner. */
const DENO_OWNERS: Record<string, string[]> = {
  "Deno.Command": ["runtime/child_process.ts"],
  "Deno.addSignalListener": ["server.ts"],
  "Deno.exit": ["client.ts", "server.ts"],
  "Deno.stderr": ["runtime/log.ts"],
  "Deno.stdin": ["server.ts"],
  "Deno.stdout": ["runtime/terminal.ts", "server.ts"],
};

/** `protocol/`, `tools/` and `framing.ts` are pure. */
const MAY_NAME_DENO = /^(runtime\/\w+|server|client)\.ts$/;

const MAX_LINES = 500;

/** Files that are longer, and why. */
const LONG_FILES: Record<string, string> = {};

/** Files without a test of their own, and why. */
const NO_TWIN: Record<string, string> = {};

const LIMIT_MS = 60_000;

const ignore = !granted("read") || !granted("run");
const graph = ignore ? [] : await readGraph();
const experiments = granted("read")
  ? await readSources([
    "experiments/",
    "experiments/31-mcp-server-smoke/",
    "experiments/31-mcp-roundtrip/",
  ])
  : [];

/** One import: who, whom, and how it is written. */
interface Import {
  file: string;
  target: string;
  specifier: string;
  dynamic: boolean;
}

/** A file and its text. */
interface Source {
  file: string;
  text: string;
}

Deno.test(
  "mod.ts reaches every source file, and the table has a row for each",
  {
    ignore,
  },
  () => {
    const rows = LAYERS.map(([file]) => file).sort();
    const reached = reach("mod.ts");
    assertEquals([...reached].filter((file) => !isPackage(file)).sort(), rows);
    assertEquals(
      sources.map(({ file }) => file).sort(),
      rows.filter((file) => file.endsWith(".ts")),
    );
  },
);

Deno.test("every file imports only what its row allows, from rows above it", {
  ignore,
}, () => {
  const rows = LAYERS.map(([file]) => file);
  const allowed = new Map(LAYERS);
  const wrong = graph.filter(({ file, target }) =>
    !allowed.get(file)?.some((may) =>
      may === target || may.endsWith("/") && target.startsWith(may)
    ) ||
    !isPackage(target) && rows.indexOf(target) >= rows.indexOf(file)
  );
  assertEquals(wrong, []);
});

Deno.test(
  "client.ts and server.ts do not reach each other, nor client.ts a tool",
  {
    ignore,
  },
  () => {
    const foreign = [...reach("client.ts")].filter((file) =>
      file.startsWith("tools/") ||
      ["server.ts", "protocol/_methods.ts", "protocol/_dispatch.ts"].includes(
        file,
      )
    );
    assertEquals(foreign, []);
    assert(!reach("server.ts").has("client.ts"));
  },
);

Deno.test(
  "only our tools and the schema validator are imported dynamically",
  {
    ignore,
  },
  () => {
    const dynamic = graph.filter(({ dynamic }) => dynamic)
      .map(({ file, target }) => [file, target]);
    assertEquals(dynamic, [
      ["protocol/_schema_gate.ts", "protocol/_schema.ts"],
      ["server.ts", "tools/mod.ts"],
    ]);
    const importers = graph.filter(({ target }) => target === "tools/mod.ts");
    assertEquals(importers.length, 1);
  },
);

Deno.test(
  "every specifier is relative, but the schema package's, which has its version",
  {
    ignore,
  },
  () => {
    const others = graph.filter(({ specifier }) => !/^\.\.?\//.test(specifier))
      .map(({ file, specifier }) => [file, specifier]);
    const schema = config.imports["@cfworker/json-schema"];
    assertEquals(others, [["protocol/_schema.ts", schema]]);
    assert(/@\d+\.\d+\.\d+$/.test(schema), schema);
  },
);

Deno.test("experiments import the front door and each other, nothing private", {
  ignore: !granted("read"),
}, () => {
  const own = /^\.\/\w+\.ts$|^\.\.\/_manifest\.ts$|^\.\.\/\.\.\/mod\.ts$/;
  const wrong = find(
    experiments,
    "ImportDeclaration",
    ({ source }) => source.value,
  ).filter(({ found }) => !own.test(found));
  assertEquals(wrong, [{
    file: "experiments/_manifest.ts",
    found: "../deno.json",
  }]);
});

Deno.test(
  "Deno is named only by the programs and runtime/, its streams and Deno.Command by their owners",
  {
    ignore: !granted("read"),
  },
  () => {
    const mentions = [
      ...find(
        sources,
        'MemberExpression[object.name="Deno"]',
        ({ property }) => `Deno.${property.name}`,
      ),
      ...find(
        sources,
        'TSQualifiedName[left.name="Deno"]',
        ({ right }) => `Deno.${right.name}`,
      ),
    ];
    const impure = mentions.filter(({ file }) => !MAY_NAME_DENO.test(file));
    assertEquals(impure, []);
    for (const [part, owners] of Object.entries(DENO_OWNERS)) {
      const files = mentions.filter(({ found }) => found === part)
        .map(({ file }) => file);
      assertEquals([...new Set(files)].sort(), owners, part);
    }
  },
);

Deno.test("protocol/revisions.ts alone holds a date", {
  ignore: !granted("read"),
}, () => {
  const texts = [
    ...find(sources, "Literal", ({ value }) => String(value)),
    ...find(sources, "TemplateElement", ({ raw }) => raw),
  ];
  const holders = texts.filter(({ found }) => /\d{4}-\d{2}-\d{2}/.test(found));
  assertEquals([...new Set(holders.map(({ file }) => file))], [
    "protocol/revisions.ts",
  ]);
});

Deno.test("no file has a default export or re-exports all of another", {
  ignore: !granted("read"),
}, () => {
  assertEquals([
    ...find(sources, "ExportDefaultDeclaration", () => "default"),
    ...find(sources, "ExportAllDeclaration", () => "*"),
    ...find(sources, 'ExportSpecifier[exported.name="default"]', () => "as"),
  ], []);
});

Deno.test(
  "any stands only below a lint-ignore, and every lint-ignore has a reason",
  {
    ignore: !granted("read"),
  },
  () => {
    const anys = find(sources, "TSAnyKeyword", () => "any");
    const all = [...sources, ...experiments].flatMap(({ file, text }) =>
      text.split("\n").filter((line) => line.includes("deno-lint-ignore"))
        .map((line) => ({ file, line: line.trim() }))
    );
    assertEquals(all.filter(({ line }) => !/ -- \S/.test(line)), []);
    assertEquals(
      anys.map(({ file }) => file).sort(),
      all.filter(({ line }) => line.includes("no-explicit-any"))
        .map(({ file }) => file).sort(),
    );
  },
);

Deno.test("no file is over 500 lines, but those with a reason", {
  ignore: !granted("read"),
}, () => {
  const long = sources.filter(({ text }) =>
    text.trimEnd().split("\n").length > MAX_LINES
  );
  assertEquals(
    long.map(({ file }) => file).sort(),
    Object.keys(LONG_FILES).sort(),
  );
});

Deno.test("every file has its twin among the tests, but those with a reason", {
  ignore: !granted("read"),
}, async () => {
  const tests = new Set<string>();
  for (const folder of ["", "protocol/", "runtime/", "tools/"]) {
    for await (const { name } of Deno.readDir(`${ROOT}/tests/${folder}`)) {
      tests.add(folder + name);
    }
  }
  const twinOf = (file: string): string =>
    file.replace(/_?(\w+)\.ts$/, "$1_test.ts");
  const alone = sources.map(({ file }) => file)
    .filter((file) => !tests.has(twinOf(file)));
  assertEquals(alone.sort(), Object.keys(NO_TWIN).sort());
});

function granted(name: "read" | "run"): boolean {
  return Deno.permissions.querySync({ name }).state === "granted";
}

function isPackage(target: string): boolean {
  return target.startsWith("npm:");
}

/** All that a file imports, directly or not; the file too. */
function reach(from: string): Set<string> {
  const reached = new Set([from]);
  for (const file of reached) {
    for (const { target } of graph.filter((entry) => entry.file === file)) {
      reached.add(target);
    }
  }
  return reached;
}

/** What a syntax tree holds. Comments are not in it. */
function find(
  sources: Source[],
  selector: string,
  // deno-lint-ignore no-explicit-any -- as the lint API types a selector's node
  tell: (node: any) => string,
): { file: string; found: string }[] {
  return sources.flatMap(({ file, text }) => {
    const plugin: Deno.lint.Plugin = {
      name: "layers",
      rules: {
        find: {
          create: (context): Deno.lint.LintVisitor => ({
            [selector]: (node: Deno.lint.Node): void =>
              context.report({ node, message: tell(node) }),
          }),
        },
      },
    };
    return Deno.lint.runPlugin(plugin, file, text)
      .map(({ message }) => ({ file, found: message }));
  });
}

/** `deno info --json` of everything that `mod.ts` reaches. */
async function readGraph(): Promise<Import[]> {
  const { code, stdout, stderr } = await new Deno.Command("deno", {
    args: ["info", "--json", `${ROOT}/mod.ts`],
    stdin: "null",
    signal: AbortSignal.timeout(LIMIT_MS),
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  const root = import.meta.resolve("../");
  const { modules } = JSON.parse(new TextDecoder().decode(stdout));
  return modules.flatMap(
    (module: { specifier: string; dependencies?: InfoDependency[] }) =>
      (module.dependencies ?? []).map((dependency): Import => ({
        file: module.specifier.replace(root, ""),
        target: (dependency.code ?? dependency.type)?.specifier
          .replace(root, "") ?? dependency.specifier,
        specifier: dependency.specifier,
        dynamic: dependency.isDynamic ?? false,
      })),
  );
}

/** As `deno info --json` prints it. */
interface InfoDependency {
  specifier: string;
  code?: { specifier: string };
  type?: { specifier: string };
  isDynamic?: boolean;
}

async function readSources(folders: string[]): Promise<Source[]> {
  const sources: Source[] = [];
  for (const folder of folders) {
    for await (const { name } of Deno.readDir(`${ROOT}/${folder}`)) {
      // README has its reader save a server of their own under such a name.
      if (!name.endsWith(".ts") || name.startsWith("my_")) continue;
      const file = folder + name;
      sources.push({ file, text: await Deno.readTextFile(`${ROOT}/${file}`) });
    }
  }
  return sources;
}
