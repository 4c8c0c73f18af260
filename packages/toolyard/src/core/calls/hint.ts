/**
 * `_meta` key under which a tool carries a sentence for the agent's model: when and how to use it. `hint` of a
 * tool.toml becomes this.
 */
export const HINT_META_KEY = "toolyard/hint";
