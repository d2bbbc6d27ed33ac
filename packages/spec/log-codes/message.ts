/** A warning or an error that operators can search for and alert on. */
export type LogMessage = {
  /** The message; `…` stands for what differs between two lines. */
  text: string;
  /** The whole message is computed, and `text` describes it. */
  varies?: true;
  cause: string;
  remedy: string;
};
