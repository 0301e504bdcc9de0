/** Topology component `tree`: the k-ary tree. */

export { TREE_ARITY_MAX, createTree } from './tree.js';
