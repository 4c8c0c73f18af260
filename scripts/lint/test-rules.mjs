// Length and parameters of functions in tests, measured as a reader of tests would. A list of tests is not a function:
// the lines of its tests count for those tests. The columns of a table (`test.each`) are not parameters, and a helper
// that is called on many consecutive lines may have four, since the values there are like a table row.
const MAX_LINES = 60;
const MAX_PARAMETERS = 4;
const TESTS = new Set(["describe", "suite", "test", "it"]);

/** Returns the first name of `test(…)`, `describe.each(…)(…)`, `test.skipIf(…)(…)`. */
function firstName(callee) {
  if (callee.type === "Identifier") return callee.name;
  if (callee.type === "MemberExpression") return firstName(callee.object);
  if (callee.type === "CallExpression") return firstName(callee.callee);
  return callee.type === "TaggedTemplateExpression" ? firstName(callee.tag) : undefined;
}

const isBlank = (line) => /^\s*(?:$|\/\/|\/?\*)/.test(line);

export const functionLength = {
  create(context) {
    const { lines } = context.sourceCode;
    // Open functions, the innermost last, with the number of lines of their tests.
    const open = [];
    const countOf = ({ loc }) => lines.slice(loc.start.line - 1, loc.end.line).filter((line) => !isBlank(line)).length;
    const enter = (node) => open.push({ node, ofTests: 0 });
    const leave = (node) => {
      const { ofTests } = open.pop();
      const count = countOf(node) - ofTests;
      if (count > MAX_LINES)
        context.report({ node, message: `A function of ${count} lines; ${MAX_LINES} are allowed.` });
    };
    return {
      FunctionDeclaration: enter,
      FunctionExpression: enter,
      ArrowFunctionExpression: enter,
      "FunctionDeclaration:exit": leave,
      "FunctionExpression:exit": leave,
      "ArrowFunctionExpression:exit": leave,
      "CallExpression:exit"(node) {
        if (open.length > 0 && TESTS.has(firstName(node.callee)) && node.parent.type === "ExpressionStatement")
          open.at(-1).ofTests += countOf(node);
      },
    };
  },
};

/**
 * Returns whether a function is an argument of `test.each(table)(…)`, so that its parameters are the columns of a
 * table.
 */
function takesColumns(node) {
  const { parent } = node;
  return parent?.type === "CallExpression" && parent.arguments.includes(node) && TESTS.has(firstName(parent.callee));
}

export const parameters = {
  create(context) {
    const check = (node) => {
      const count = node.params.length;
      if (count <= MAX_PARAMETERS || takesColumns(node)) return;
      context.report({ node, message: `${count} parameters; ${MAX_PARAMETERS} are allowed in tests.` });
    };
    return { FunctionDeclaration: check, FunctionExpression: check, ArrowFunctionExpression: check };
  },
};
