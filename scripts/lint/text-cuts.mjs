// Texts are truncated by `firstChars` and `truncate` of packages/toolyard/src/core/text/truncate.ts, which never
// split a surrogate pair. This rule finds `slice(0, …)` where a name or an ellipsis shows that a text is truncated;
// arrays have other names.
const TEXT_LIMIT = /(?:^|_)CHARS$/;

export const textCuts = {
  create(context) {
    const report = (node) =>
      context.report({
        node,
        message: "Truncate texts by `firstChars` or `truncate`: `slice` may split a surrogate pair.",
      });
    return {
      CallExpression(node) {
        if (!isCut(node)) return;
        const [, end] = node.arguments;
        if (end.type === "Identifier" && TEXT_LIMIT.test(end.name)) report(node);
      },
      TemplateLiteral({ expressions, quasis }) {
        for (const [at, expression] of expressions.entries())
          if (isCut(expression) && quasis[at + 1].value.cooked?.startsWith("…")) report(expression);
      },
    };
  },
};

function isCut(node) {
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return false;
  const [start, end] = node.arguments;
  const isSlice = ["slice", "substring", "substr"].includes(node.callee.property.name);
  const isTruncation = end !== undefined && end.type !== "UnaryExpression";
  return isSlice && isTruncation && start.type === "Literal" && start.value === 0;
}
