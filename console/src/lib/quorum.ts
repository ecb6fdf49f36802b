// What the number of members that run means.
import type { Quorum } from "../api/types.js";

/** A sentence, and whether somebody should do something. */
export function quorumText({ members, leader, needed, running }: Quorum): { text: string; wrong: boolean } {
  const all = members?.length ?? 0;
  const spare = running - needed;
  const so = `${running} of ${all} members run, and ${needed} must`;
  if (all === 0)
    return { text: "No member leads yet: the first start needs all edges that routes lists.", wrong: true };
  if (spare < 0) return { text: `${so}: nothing can be stored. Start the offline members.`, wrong: true };
  if (leader === "")
    return { text: `${so}, but none leads: nothing can be stored. An election takes seconds.`, wrong: true };
  if (spare > 0) return { text: `${so}: ${spare} more may be lost.`, wrong: false };
  if (running === all) return { text: `${so}: a loss stops the cluster.`, wrong: false };
  return {
    text: `${so}: one more loss stops the cluster. Start the offline members, or remove those that do not come back, with millrace pubsub edges remove.`,
    wrong: true,
  };
}
