use crate::wire::{object, open_enum, string_id};

string_id! {
    /// A media type, such as `image/png`.
    MediaType,
}

object! {
    /// A picture that stands for something in a list or on a button.
    Icon {
        /// Where it is: a URI of the scheme `https` or `data`. Clients load no other, send no credentials and follow no
        /// redirect to elsewhere.
        #[cfg_attr(feature = "schema", schemars(url))]
        required src: String,
        /// Its media type, where the source says none or too little.
        lenient mime_type: Option<MediaType>,
        /// The sizes for which it is meant, such as `48x48`, or `any`. Every size where none is named.
        optional_items sizes: Option<Vec<String>>,
        /// The background for which it is meant. Every one where none is named.
        lenient theme: Option<IconTheme>,
        meta,
    }
}

open_enum! {
    /// The background for which an icon is meant. Words of one's own begin with `_`.
    IconTheme {
        /// A light one.
        Light = "light",
        /// A dark one.
        Dark = "dark",
    } else Other
}
