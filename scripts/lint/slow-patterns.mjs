// Refuses regular expressions with more than linear time in executed code: one long text from outside would block the
// program. An exception is a comment that disables the rule and names the limit of its input. scslre finds repetitions
// that exchange characters, and those that restart at each character.
const scslre = await import("scslre").catch((error) => {
  if (process.env.CI) throw error;
  console.warn("Regular expressions are not checked: scslre is not installed. Run `npm ci`.");
});

const KINDS = {
  Move: "begins anew at each character; put a lookbehind such as `(?<!\\s)` in front of the repetition",
  Self: "repeats what repeats by itself",
  Trade: "has two repetitions that can match the same characters",
};

export const slowPatterns = {
  create(context) {
    if (!scslre) return {};
    const check = (node, source, flags) => {
      const { reports } = analyse(source, flags);
      if (reports.length === 0) return;
      const kinds = [...new Set(reports.map(({ type }) => KINDS[type]))].join(", and ");
      context.report({ node, message: `This regular expression can take quadratic time or more: it ${kinds}.` });
    };
    return {
      Literal(node) {
        if (node.regex) check(node, node.regex.pattern, node.regex.flags);
      },
      NewExpression(node) {
        if (node.callee.name !== "RegExp") return;
        const [source, flags] = node.arguments.map(textOf);
        if (source !== undefined) check(node, source, flags ?? "");
      },
    };
  },
};

/** Returns the text of a literal, or of a template without values, including `String.raw`. */
function textOf(node) {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type === "TaggedTemplateExpression" && node.quasi.expressions.length === 0)
    return node.quasi.quasis[0].value.raw;
  return node.type === "TemplateLiteral" && node.expressions.length === 0 ? node.quasis[0].value.cooked : undefined;
}

const known = new Map();

function analyse(source, flags) {
  const key = `${flags}/${source}`;
  let result = known.get(key);
  if (result === undefined) {
    try {
      result = scslre.analyse({ source, flags });
    } catch {
      // The compiler refuses invalid regular expressions.
      result = { reports: [] };
    }
    known.set(key, result);
  }
  return result;
}
