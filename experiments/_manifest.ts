/**
 * What every experiment writes besides its own artefacts: `results.json` and
 * `manifest.json`, the same bytes each time, versions aside.
 *
 * @module
 */

import config from "../deno.json" with { type: "json" };

/** Nothing here is random; the seed is the labs' standard one. */
const SEED = 42;

/** What an experiment says of itself. */
export interface Experiment {
  /** Its folder's name. */
  experiment: string;
  /** The protocol version that was spoken. */
  protocol: string;
  /** The files it wrote, by name. */
  artefacts: readonly string[];
}

/**
 * Write `manifest.json`.
 *
 * @param folder Where the artefacts lie, and where the manifest goes.
 * @param experiment What it says.
 */
export async function writeManifest(
  folder: string,
  { experiment, protocol, artefacts }: Experiment,
): Promise<void> {
  const sha256: Record<string, string> = {};
  for (const name of artefacts) {
    sha256[name] = await hash(await Deno.readFile(`${folder}/${name}`));
  }
  await writeJSON(`${folder}/manifest.json`, {
    experiment,
    versions: { ...Deno.version, protocol, ...packageVersions() },
    seed: SEED,
    sha256,
  });
}

/**
 * Write a JSON file that a person can read.
 *
 * @param path The file.
 * @param value What it holds.
 */
export async function writeJSON(path: string, value: unknown): Promise<void> {
  await Deno.writeTextFile(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** `{"a": "npm:a@1.2.3"}` to `{"a": "1.2.3"}`. */
function packageVersions(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(config.imports).map(([name, specifier]) => [
      name,
      specifier.slice(specifier.lastIndexOf("@") + 1),
    ]),
  );
}

async function hash(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
