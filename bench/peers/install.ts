/**
 * Installs the peers from npm, pinned, into the cache folder, and puts our
 * programs for them beside them, where node resolves their imports.
 *
 * @module
 */

/** The versions that are measured. */
export const PINNED: Record<string, string> = {
  "@modelcontextprotocol/client": "2.4.0",
  "@modelcontextprotocol/sdk": "1.32.2",
  "@modelcontextprotocol/server": "2.4.0",
  "@tmcp/adapter-zod": "0.1.7",
  "@tmcp/transport-stdio": "0.5.0",
  "tmcp": "1.20.0",
  "vscode-jsonrpc": "10.0.0",
  "zod": "4.6.7",
};

/** Where everything that is not kept goes: git ignores it. */
export const CACHE: string =
  new URL("../../.cache/peers", import.meta.url).pathname;

/**
 * Install what is not there yet, and copy the programs, which may have changed.
 *
 * @throws {Error} If `npm install` fails.
 */
export async function install(): Promise<void> {
  await Deno.mkdir(CACHE, { recursive: true });
  const manifest = { private: true, type: "module", dependencies: PINNED };
  const wanted = JSON.stringify(manifest, null, 2);
  const stamp = `${CACHE}/installed.json`;
  if (await read(stamp) !== wanted) {
    await Deno.writeTextFile(`${CACHE}/package.json`, wanted);
    const { success } = await new Deno.Command("npm", {
      args: ["install", "--no-audit", "--no-fund", "--ignore-scripts"],
      cwd: CACHE,
      stdout: "null",
    }).output();
    if (!success) throw new Error('Cannot install peers: "npm install" failed');
    await Deno.writeTextFile(stamp, wanted);
  }
  for (const folder of ["servers", "clients"]) {
    const from = new URL(`./${folder}/`, import.meta.url).pathname;
    for await (const { name } of Deno.readDir(from)) {
      if (!name.endsWith(".mjs")) continue;
      await Deno.copyFile(`${from}${name}`, `${CACHE}/${name}`);
    }
  }
}

async function read(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
