// Functions of at most 60 lines in tests. The linter's own rule takes the block of a `describe` for a function, which
// is a list of tests and may be as long as the list; everything else in a test is measured as elsewhere: blank lines
// and comments do not count.
const MAX_LINES = 60;
const LISTS = new Set(["describe", "suite"]);

/** `describe(…)`, `describe.each(…)(…)`, `describe.skipIf(…)(…)`. */
function isListOfTests(callee) {
  if (callee.type === "Identifier") return LISTS.has(callee.name);
  if (callee.type === "MemberExpression") return isListOfTests(callee.object);
  return callee.type === "CallExpression" || callee.type === "TaggedTemplateExpression"
    ? isListOfTests(callee.callee ?? callee.tag)
    : false;
}

export const functionLength = {
  create(context) {
    const { sourceCode } = context;
    const check = (node) => {
      const { parent, loc } = node;
      if (parent?.type === "CallExpression" && parent.arguments.includes(node) && isListOfTests(parent.callee)) return;
      if (loc.end.line - loc.start.line < MAX_LINES) return;
      const count = sourceCode.lines
        .slice(loc.start.line - 1, loc.end.line)
        .filter((line) => !/^\s*(?:$|\/\/|\/?\*)/.test(line)).length;
      if (count > MAX_LINES)
        context.report({ node, message: `A function of ${count} lines; ${MAX_LINES} are allowed.` });
    };
    return { FunctionDeclaration: check, FunctionExpression: check, ArrowFunctionExpression: check };
  },
};
