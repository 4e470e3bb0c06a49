-- Pictures that members have published with apps, encoded anew. `user.avatar` is `own:` and the id where such a picture is shown. The bytes
-- are last, so that readers of the others read none of them.
CREATE TABLE own_picture (
    site        INTEGER NOT NULL,
    user        INTEGER NOT NULL,
    id          TEXT NOT NULL,    -- a digest, in hexadecimal digits
    list        TEXT NOT NULL,    -- of the item from which it comes
    version     INTEGER NOT NULL, -- of that item
    site_avatar TEXT,             -- the picture that the site gives
    type        TEXT NOT NULL,
    bytes       BLOB NOT NULL,
    PRIMARY KEY (site, user)
);
CREATE UNIQUE INDEX own_picture_id ON own_picture (site, id);
