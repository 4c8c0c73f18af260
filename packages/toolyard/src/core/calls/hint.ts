/**
 * `_meta` key under which a tool carries a sentence for the agent's model: when and how to use it. Set from `hint` in a
 * tool.toml.
 */
export const HINT_META_KEY = "toolyard/hint";
