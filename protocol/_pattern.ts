/**
 * Which regular expressions of a schema are safe to run: one that backtracks
 * without end cannot be interrupted.
 *
 * @module
 */

/** An atom of a regular expression that is several characters long: an escape or a class. */
const LONG_ATOM =
  /\\(?:[pPu]\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|k<[^>]*>|c[a-zA-Z]|\d+|.)|\[(?:\\.|[^\]\\])*\]/gsu;
/** A group with no group inside: its body, and its quantifier if that is 5 or more. */
const GROUP =
  /\((?:\?(?:<?[=!]|[a-z-]*:|<[^>]*>))?([^()]*)\)([*+]|\{\d+,\}|\{(?:\d+,)?(?:[5-9]|\d\d+)\})?/u;
/** The first of the private characters that stand in for long atoms. */
const STAND_IN = 0xF0000;

/**
 * Say what is wrong with a pattern: it is no regular expression, or it holds
 * repetition within repetition, which makes matching take exponential time, as
 * in `^(a+)+$`, `(a|a)*`, `(a?){30}`.
 *
 * Refused is a group that may repeat 5 times or more and holds alternatives or
 * a variable quantifier, unless it begins or ends with one fixed character
 * that nothing else in it matches: `(-[a-z]+)*` is fine. This refuses some
 * harmless ones, and passes those of polynomial time, such as `a*a*a*b`.
 *
 * @param source The pattern.
 * @returns What it should be, or `undefined` if it may be run.
 */
export function faultOf(source: string): string | undefined {
  try {
    new RegExp(source, "u");
  } catch {
    return "a regular expression that flag u allows";
  }
  return isBounded(source) ? undefined : "no repetition within a repetition";
}

function isBounded(source: string): boolean {
  const atoms: string[] = [];
  let rest = source.replace(
    LONG_ATOM,
    (atom) => String.fromCodePoint(STAND_IN + atoms.push(atom) - 1),
  );
  for (let group = GROUP.exec(rest); group !== null; group = GROUP.exec(rest)) {
    const [whole, body = "", many] = group;
    const isVariable = /[|*+?]|\{\d+,/.test(body);
    if (many && isVariable && !isSeparated(body, atoms)) return false;
    // What is left of it shows the group around its atoms and whether it varies; NUL is no atom.
    const flat = `\0${body.replaceAll("|", "?")}\0${many ? "*" : ""}`;
    rest = rest.replace(whole, () => flat);
  }
  return true;
}

/** Whether each round of a group can be told from the next by the character it begins or ends with. */
function isSeparated(body: string, atoms: string[]): boolean {
  if (body.includes("|")) return false;
  const sourceOf = (atom: string): string =>
    atoms[(atom.codePointAt(0) ?? 0) - STAND_IN] ?? atom;
  const inner = [...body.replace(/\{[\d,]*\}|[*+?\0]/g, "")].map(sourceOf);
  const edges = body.match(/^[^\0](?![*+?{])|[^*+?}\0]$/gsu) ?? [];
  return edges.map(sourceOf).some((edge) => {
    const [, escaped, plain] = /^(?:\\(\W)|([^\\.^$[]))$/u.exec(edge) ?? [];
    const fixed = escaped ?? plain;
    const matches = (atom: string): boolean =>
      /^\\[1-9k]/.test(atom) ||
      new RegExp(`^(?:${atom})$`, "su").test(fixed ?? "");
    return fixed !== undefined && inner.filter(matches).length === 1;
  });
}
