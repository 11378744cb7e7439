/**
 * Who is measured: the peers, the bare loops and us, each as one command.
 *
 * @module
 */

import { CACHE } from "./install.ts";
import type { Framing } from "./wire.ts";

/** One server, or one client, that takes part. */
export interface Contender {
  /** Its key in the samples. */
  id: string;
  /** Its column in the table. */
  title: string;
  /** What it is to us: to be beaten, the limit, or ourselves. */
  role: "peer" | "limit" | "us";
  /** How to start it. */
  command: string[];
  /** How it is spoken to. */
  framing: Framing;
  /** Whether its cost grows with the square of a message: it is spared rounds. */
  quadratic?: boolean;
}

const DENO_RUN = [Deno.execPath(), "run", "--no-prompt"];

/** Our server, as a user starts it. */
export const OUR_SERVER: string =
  new URL("../../server.ts", import.meta.url).pathname;
/** Our client, for the module that drives it. */
export const OUR_CLIENT: string =
  new URL("../../client.ts", import.meta.url).pathname;
/** The fixed server that the clients are measured against. */
export const FAST_SERVER: string[] = [...DENO_RUN, script("loop_sync.ts")];
/** A script that does nothing. */
export const EMPTY: string[] = [...DENO_RUN, script("empty.ts")];

/** The servers, in the order of the table. */
export const SERVERS: Contender[] = [
  {
    ...peer("sdk1", "SDK v1, node", "sdk_v1.mjs"),
    quadratic: true,
  },
  {
    ...peer("sdk2", "SDK v2, node", "sdk_v2.mjs"),
    quadratic: true,
  },
  { ...peer("tmcp", "tmcp, node", "tmcp.mjs"), quadratic: true },
  {
    ...peer("vscode", "vscode-jsonrpc, node", "vscode_jsonrpc.mjs"),
    framing: "content-length",
  },
  limit("streams", "bare loop, web streams", "loop_web_streams.ts"),
  limit("sync", "bare loop, cheapest calls", "loop_sync.ts"),
  us("newline", "**us, newline**"),
  us("content-length", "**us, headers**"),
];

/** The clients, in the order of the table. Each is a program that drives itself. */
export const CLIENTS: Contender[] = [
  peer("sdk1", "SDK v1, node", "client_sdk_v1.mjs"),
  {
    ...peer("sdk1-deno", "SDK v1, Deno", "client_sdk_v1.mjs"),
    command: [
      Deno.execPath(),
      ...["run", "-A", "--no-config", "--node-modules-dir=manual"],
      `${CACHE}/client_sdk_v1.mjs`,
    ],
  },
  peer("sdk2", "SDK v2, node", "client_sdk_v2.mjs"),
  {
    ...limit("streams", "bare Deno, web streams", ""),
    command: client("client_bare.ts"),
  },
  { ...us("newline", "**us**"), command: client("client_ours.ts") },
];

function peer(id: string, title: string, file: string): Contender {
  const command = ["node", `${CACHE}/${file}`];
  return { id, title, role: "peer", framing: "newline", command };
}

function limit(id: string, title: string, file: string): Contender {
  const command = [...DENO_RUN, script(file)];
  return { id, title, role: "limit", framing: "newline", command };
}

function us(framing: Framing, title: string): Contender {
  const command = [...DENO_RUN, OUR_SERVER];
  return { id: framing, title, role: "us", framing, command };
}

function client(file: string): string[] {
  const path = new URL(`./clients/${file}`, import.meta.url).pathname;
  return [...DENO_RUN, "--allow-run", "--allow-read", path];
}

function script(file: string): string {
  return new URL(`./servers/${file}`, import.meta.url).pathname;
}
