/** The version of the API, which is that of its document and not of this program. */
export const API_VERSION = '1.0.0';
