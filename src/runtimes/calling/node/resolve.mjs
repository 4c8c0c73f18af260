// Hooks of Nodes that run them in a thread; see preload.cjs.
let url;

export function initialize(data) {
  ({ url } = data);
}

export function resolve(specifier, context, next) {
  return specifier === "toolyard/script" && context.conditions.includes("import") ? { url, shortCircuit: true } : next(specifier, context);
}
